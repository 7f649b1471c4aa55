#!/bin/sh
# No function of mpi.h slips through to the real library: see slip.c.
# Needs PEMSCC, PEMSRUN (or both on the PATH) and top_builddir, where
# src/mpi_abi/refused.h is.
set -u
here=$(cd "$(dirname "$0")" && pwd)
builddir=${top_builddir:-$(cd "$here/../.." && pwd)}
pemscc=${PEMSCC:-pemscc}
pemsrun=${PEMSRUN:-pemsrun}
# shellcheck source=tests/limit.sh
. "$here/../limit.sh"
base=${TESTDIR:-${TMPDIR:-/var/tmp}}
mkdir -p "$base"
work=$(mktemp -d "$base/pems-slip.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

"$pemscc" -O1 -I"$builddir/src" -o "$work/slip" "$here/slip.c" || {
  echo "FAIL slip: $pemscc could not compile slip.c"
  exit 1
}
limited "$pemsrun" -n 2 "$work/slip"
status=$?
if [ $status -eq 0 ]; then
  echo "PASS slip"
else
  echo "FAIL slip: exit status $status"
fi

# An operation that MPICH 5 has, and pems has not.
cat >"$work/equal.c" <<'END'
#include <mpi.h>
#ifndef MPIX_EQUAL
#define MPIX_EQUAL MPI_OP_NULL
#endif
int main(int argc, char **argv) {
  int rank, same = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &same, 1, MPI_INT, MPIX_EQUAL, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
END
"$pemscc" -O1 -o "$work/equal" "$work/equal.c" || exit 1
limited "$pemsrun" -n 2 --pems-procs=1 "$work/equal" >"$work/out" 2>&1
if [ $? -ne 0 ] && grep -q '^pems: MPI_Allreduce: rank' "$work/out"; then
  echo "PASS equal"
else
  echo "FAIL equal: MPI_Allreduce of an operation that there is not:"
  cat "$work/out"
  status=1
fi
exit $status
