#!/bin/sh
# Fortran's MPI_Ialltoallw. It is not compared with mpirun: Open MPI 4.1 forgets
# the datatypes before it is done, and crashes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/limit.sh
. "$here/../limit.sh"
base=${TESTDIR:-${TMPDIR:-/var/tmp}}
mkdir -p "$base"
work=$(mktemp -d "$base/pems-ialltoallw.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
pemsfort=${PEMSFORT:-pemsfort}
command -v "${pemsfort%% *}" >/dev/null || {
  echo "SKIP: pems was built without Fortran"
  exit 77
}
cat >"$work/exchange.f90" <<'END'
program exchange
  use mpi
  implicit none
  integer :: rank, n, pair, request, i, ierr
  integer, allocatable :: out(:, :), in(:, :), counts(:), at(:), types(:)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  allocate(out(2, n), in(2, n), counts(n), at(n), types(n))
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierr)
  call MPI_Type_commit(pair, ierr)
  do i = 1, n
    out(:, i) = [100 * rank + i, -i]
    at(i) = 8 * (i - 1)
    counts(i) = merge(1, 2, mod(rank + i, 2) == 0)
    types(i) = merge(pair, MPI_INTEGER, mod(rank + i, 2) == 0)
  end do
  in = 0
  call MPI_Ialltoallw(out, counts, at, types, in, counts, at, types, &
                      MPI_COMM_WORLD, request, ierr)
  types = -1 ! not needed any more
  call MPI_Type_free(pair, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  if (any(in(1, :) /= [(100 * (i - 1) + rank + 1, i = 1, n)]) .or. &
      any(in(2, :) /= -rank - 1)) then
    print *, 'wrong', in
  else
    print *, 'right'
  end if
  call MPI_Finalize(ierr)
end program
END
# shellcheck disable=SC2086 # it may carry options
$pemsfort -w -o "$work/exchange" "$work/exchange.f90" || exit 1
status=0
for options in --pems-procs=1 "--pems-procs=2 --pems-k=1"; do
  # shellcheck disable=SC2086 # these are words
  PEMS_TEST_EVICT_ALWAYS=1 limited "${PEMSRUN:-pemsrun}" -n 5 $options \
    "$work/exchange" >"$work/out" 2>&1
  ended=$?
  [ $ended -ne 99 ] || exit 99
  if [ $ended -ne 0 ] || [ "$(grep -c right "$work/out")" -ne 5 ]; then
    cat "$work/out"
    echo "FAIL ialltoallw ($options): exit status $ended"
    status=1
  else
    echo "PASS ialltoallw ($options)"
  fi
done
exit $status
