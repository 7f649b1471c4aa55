#!/bin/sh
# Programs that misuse threads or the heap: the job ends with a status that is
# not 0 and one line that says what it was, and nothing goes on.
. "$(dirname "$0")/lib.sh"

build tests/fault/threads.c
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS

# misuse TITLE MODE STATUS PATTERN
misuse() {
  begin "$1"
  run -n 4 --pems-k=1 --pems-context=32M "$program" "$2"
  expect_status "$3"
  expect_line "$4"
  if says 'goes on'; then
    fault "a rank went on"
  fi
  expect_clean
  end
}

misuse "pthread_exit without MPI_Finalize" pthread_exit 1 \
  'rank 1: .*without MPI_Finalize'

exited='exit.*thread that rank 1 started'
misuse "a thread calls exit(0)" thread-exit-0 1 "$exited"
misuse "a thread calls exit(3)" thread-exit-3 3 "$exited"
misuse "a thread calls _exit(5)" thread-_exit-5 5 "$exited"
misuse "a thread calls quick_exit(6)" thread-quick_exit-6 6 "$exited"

called='MPI_[A-Z][a-z_]+.*thread'
misuse "a thread calls MPI_Barrier" thread-barrier 1 "$called"
misuse "a thread calls MPI_Allreduce" thread-allreduce 1 "$called"
misuse "a C11 thread calls MPI_Barrier" c11-thread-barrier 1 "$called"

misuse "a thread calls abort" thread-abort 134 'rank 1.*abort'
misuse "a thread dereferences NULL" thread-null 139 'rank 1.*segmentation'
misuse "two threads of a rank in MPI at once" two-at-once 1 \
  'MPI_Barrier: rank 1: another of its threads is in MPI'

begin "a thread uses memory while its rank waits"
run -n 4 --pems-k=1 --pems-context=32M "$program" touch
expect_status 0
expect_silence
expect_clean
end

freed='(free|realloc): rank 1: 0x[0-9a-f]+: not an allocated block'
misuse "free of an address within a block" free-inside 134 "$freed"
misuse "free of it by a thread" thread-free 134 "$freed"
misuse "free of a block twice" free-twice 134 "$freed"
misuse "free of a large block twice" free-large-twice 134 "$freed"
misuse "free of a wild address" free-wild 134 "$freed"
misuse "free of a global" free-global 134 "free.*rank 1|rank 1.*(free|abort)"
misuse "realloc of a freed block" realloc-freed 134 "$freed"

# The MPI's library for Fortran calls C's functions.
cat >"$work/send.f90" <<'END'
program send
  use mpi
  implicit none
  integer :: ierr
  call MPI_Init(ierr)
  call MPI_Send(ierr, 1, MPI_INTEGER, 99, 0, MPI_COMM_WORLD, ierr)
end program
END
if "${PEMSFORT:-pemsfort}" -o "$work/send" "$work/send.f90" >"$out" 2>&1; then
  begin "a wrong argument in Fortran"
  run -n 2 --pems-procs=1 "$work/send"
  expect_failure
  expect_line 'MPI_Send: rank [01]( at .*)?: .*: check the arguments of the call, and whether libmp[a-z_]*\.so[.0-9]* passes them on as they are$'
  expect_clean
  end
fi

conclude
