#!/bin/sh
# by_standard.c, which Open MPI does not pass: on pems only, in one process and in
# several, with contexts on disk whenever their ranks wait.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/limit.sh
. "$here/../limit.sh"
work=$(mktemp -d "${TESTDIR:-${TMPDIR:-/var/tmp}}/pems-by_standard.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
"${PEMSCC:-pemscc}" -std=gnu17 -O1 -o "$work/by_standard" "$here/by_standard.c" ||
  exit 1
OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_mpi_yield_when_idle=1
PEMS_TEST_EVICT_ALWAYS=1
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle \
  PEMS_TEST_EVICT_ALWAYS
status=0
for procs in 1 2 3; do
  limited "${PEMSRUN:-pemsrun}" -n 5 --pems-procs=$procs --pems-k=1 \
    --pems-context=24M --pems-disk="$work" "$work/by_standard" \
    >"$work/out" 2>&1 || {
    echo "FAIL by_standard with $procs processes"
    head -n 8 "$work/out"
    status=1
  }
done
exit $status
