#!/bin/sh
# Ranks that make different collective calls, in one process and in two: the
# report says who calls what and where.
. "$(dirname "$0")/lib.sh"

build tests/fault/collectives.c -g

# mismatched MODE PATTERN...
mismatched() {
  mode=$1
  shift
  for procs in 1 2; do
    begin "$mode, $procs processes"
    run -n 4 --pems-procs=$procs --pems-context=32M "$program" "$mode"
    expect_status 1
    expect_line 'mismatched collectives: '
    expect_text "$@"
    expect_clean
    end
  done
}

# calls NAMES: one rank calls one of these, another the other.
calls() {
  echo "mismatched collectives: call [23] on $on:" \
    "rank [0-9] calls MPI_($1) at collectives.c:[0-9]+," \
    "rank [0-9] (calls )?MPI_($1) at collectives.c:[0-9]+ "
}

on=MPI_COMM_WORLD
mismatched function "$(calls 'Barrier|Allreduce')"
mismatched halves "$(calls 'Barrier|Allreduce')"
mismatched once-more "$(calls 'Allreduce|Finalize')"
mismatched missing-from-root "$(calls 'Bcast|Finalize')"
mismatched bcast-root 'call 2 on MPI_COMM_WORLD: MPI_Bcast: rank [0-9] names root' \
  'rank 3 names root 1 at collectives.c:[0-9]+'
mismatched halves-root 'MPI_Bcast: rank [0-9] names root [03].*, rank [0-9] '
on='the copy'
mismatched halves-nonblocking "$(calls 'Ibarrier|Ibcast' | sed 's/.23./1/')"

conclude
