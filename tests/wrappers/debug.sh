#!/bin/sh
# A breakpoint in the program is hit by every rank, as pems(7) tells; the copies
# that debuggers read are gone afterwards.
set -u
command -v gdb >/dev/null || {
  echo "SKIP: gdb is not there"
  exit 77
}
work=$(mktemp -d "${TESTDIR:-${TMPDIR:-/var/tmp}}/pems-debug.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/disk"
# shellcheck source=tests/limit.sh
. "$(dirname "$0")/../limit.sh"
cat >"$work/program.c" <<'C'
#include <mpi.h>
int count_here(int x) {
  return x + 1;
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  rank = count_here(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return rank < 0;
}
C
"${PEMSCC:-pemscc}" -g -O0 -o "$work/program" "$work/program.c" || exit 1
limited gdb -q -batch -ex 'set breakpoint pending on' \
  -ex 'break count_here' -ex run -ex continue -ex continue -ex continue \
  --args "$work/program" --pems-v=3 --pems-k=1 --pems-debug \
  --pems-disk="$work/disk" >"$work/log" 2>&1 </dev/null
status=0
for rank in 0 1 2; do
  grep -q "count_here (x=$rank)" "$work/log" || {
    echo "FAIL: rank $rank did not stop"
    status=1
  }
done
grep -q 'exited normally' "$work/log" || {
  echo "FAIL: the program did not end"
  status=1
}
[ -z "$(ls "$work/disk")" ] || {
  echo "FAIL: left behind: $(ls "$work/disk")"
  status=1
}
[ $status -eq 0 ] || cat "$work/log"
exit $status
