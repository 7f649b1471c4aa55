#!/bin/sh
# Active messages between 2 and 3 processes, below VPs: see am_driver.c.
# Needs MPIRUN and top_builddir, or mpirun on the PATH and build/ here.
set -u
here=$(cd "$(dirname "$0")" && pwd)
driver=${top_builddir:-$here/../../build}/tests/mpi/am_driver
# shellcheck source=tests/limit.sh
. "$here/../limit.sh"
# shellcheck source=tests/launcher.sh
. "$here/../launcher.sh"
status=0
for n in 2 3; do
  output=$(limited "${MPIRUN:-mpirun}" -n $n "$driver" 2>&1)
  ended=$?
  [ $ended -ne 99 ] || exit 99
  if [ $ended -eq 0 ] && [ -z "$output" ]; then
    echo "PASS am with $n processes"
  else
    printf '%s\n' "$output"
    echo "FAIL am with $n processes: exit status $ended"
    status=1
  fi
done

# One of several that fail tells why, before the others end the job.
output=$(limited "${MPIRUN:-mpirun}" -n 3 "$driver" fail 2>&1)
ended=$?
[ $ended -ne 99 ] || exit 99
if launcher_ended 3 $ended &&
  [ "$(printf '%s\n' "$output" | grep '^pems: ')" = 'pems: told by the first' ]
then
  echo "PASS failing at once"
else
  printf '%s\n' "$output"
  echo "FAIL failing at once: exit status $ended"
  status=1
fi
exit $status
