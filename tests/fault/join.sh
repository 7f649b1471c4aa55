#!/bin/sh
# A socket whose other end is no rank of the job: MPI_Comm_join says so in one
# line, and the job goes on.
. "$(dirname "$0")/lib.sh"

build tests/fault/joining.c -g

# join MODE PATTERN RESULT
join() {
  begin "$1"
  run -n 1 --pems-context=24M "$program" "$1"
  expect_status 0
  expect_line "$2"
  expect_output "$3"
  expect_clean
  end
}

join none 'MPI_Comm_join: descriptor -1: Bad file descriptor: ' \
  'MPI_ERR_OTHER MPI_COMM_NULL'
join closed 'MPI_Comm_join: descriptor [0-9]+: ' 'MPI_ERR_OTHER MPI_COMM_NULL'
join half 'MPI_Comm_join: descriptor [0-9]+: Transport endpoint is not connected: ' \
  'MPI_ERR_OTHER MPI_COMM_NULL'
for mode in other foreign mirror; do
  join $mode 'MPI_Comm_join: the other end is no rank of this job: ' \
    'MPI_SUCCESS MPI_COMM_NULL'
done

# What comes in two pieces is one.
begin pieces
run -n 2 --pems-procs=1 --pems-context=24M "$program" pieces
expect_status 0
[ "$(grep -c '^MPI_SUCCESS a communicator$' "$out")" -eq 2 ] ||
  fault "$(cat "$out")"
end
conclude
