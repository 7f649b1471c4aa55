#!/bin/sh
# Ranks that do not agree on a collective call: one clear line, a status that is
# not 0, no hang.
. "$(dirname "$0")/lib.sh"

build tests/fault/collectives.c

# mismatched MODE PATTERN: in memory, and with contexts that are swapped.
mismatched() {
  for k in 4 1; do
    begin "$1, $k running at once"
    unset PEMS_TEST_EVICT_ALWAYS
    if [ $k -eq 1 ]; then
      PEMS_TEST_EVICT_ALWAYS=1
      export PEMS_TEST_EVICT_ALWAYS
    fi
    run -n 4 --pems-k=$k --pems-context=32M "$program" "$1"
    expect_failure
    expect_line "$2"
    expect_clean
    end
  done
}

# calls NAMES: one rank calls one of these, another the other.
calls() {
  echo "mismatched collectives: call [23] on MPI_COMM_WORLD:" \
    "rank [0-9] calls MPI_($1) at .*, rank [0-9] calls MPI_($1) at "
}
mismatched function "$(calls 'Barrier|Allreduce')"
mismatched order "$(calls 'Bcast|Allreduce')"
mismatched missing "$(calls 'Barrier|Finalize')"
mismatched missing-bcast "$(calls 'Bcast|Finalize')"
mismatched missing-from-root "$(calls 'Bcast|Finalize')"
mismatched once-more "$(calls 'Allreduce|Finalize')"

root='mismatched collectives.*: rank [0-9] names root [01] at .*, '
root="${root}rank [0-9] names root [01] at"
mismatched bcast-root "$root"
mismatched bcast-root-large "$root"
mismatched reduce-root "$root"

size='mismatched collectives.*MPI_Bcast|MPI_Bcast.*truncat'
mismatched bcast-less "$size"
mismatched bcast-large-less "$size"
mismatched bcast-small-more "$size"
mismatched bcast-large-larger "$size"
mismatched gather-more 'MPI_Gather.*truncat'
mismatched gather-large 'MPI_Gather.*truncat'
mismatched alltoall-more 'MPI_Alltoall.*truncat'

conclude
