#!/bin/sh
# The Python package: sorting arrays, memmaps and files, the priority queue, the
# command, errors.
# shellcheck source=tests/em/lib.sh
. "$(dirname "$0")/lib.sh"

python=
for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
  [ -z "$python" ] && "$candidate" -c 'import numpy' 2>/dev/null &&
    python=$candidate
done
[ -n "$python" ] || {
  echo "SKIP $name: no python3 has numpy: install python3-numpy"
  exit 77
}
library=$(cd "${top_builddir:-$top/build}" && pwd)/.libs/libpems-em.so
[ -f "$library" ] || {
  echo "SKIP $name: $library is not there: build pems first"
  exit 77
}
PEMS_EM_LIBRARY=$library
TMPDIR=$work
PYTHONDONTWRITEBYTECODE=1
export PEMS_EM_LIBRARY TMPDIR PYTHONDONTWRITEBYTECODE

PYTHONPATH=$top/python limited "$python" "$top/tests/em/python_test.py" \
  >stdout.txt 2>stderr.txt </dev/null
status=$?
[ $status -eq 0 ] && grep -qx right stdout.txt || fault "python_test.py: status $status"
passed=$((passed + 1))
conclude
