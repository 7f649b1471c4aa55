#!/bin/sh
# Sources are as clang-format leaves them, and scripts as shellcheck wants them.
set -u
cd "${top_srcdir:-$(dirname "$0")/..}" || exit 1
status=77

if command -v clang-format >/dev/null; then
  status=0
  find apps drivers include src tests wrappers -name '*.[ch]' \
    -exec clang-format --dry-run -Werror {} + || status=1
else
  echo "clang-format is not there: formatting was not checked"
fi

# SC2154: variables come from the lib.sh that a script reads.
if command -v shellcheck >/dev/null; then
  [ $status -eq 77 ] && status=0
  find bootstrap wrappers/pemscc.in tests \
    \( -name '*.sh' -o -name bootstrap -o -name pemscc.in -o -name thesis \) \
    -exec shellcheck -x -S warning -e SC2154 {} + || status=1
else
  echo "shellcheck is not there: scripts were not checked"
fi
exit $status
