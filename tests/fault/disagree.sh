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

# What the MPI says of a message that is too long: "Other MPI error" with the ABI
# of MPI 5.0 of MPICH 5.0, which looks the class up among its own.
cat >"$work/text.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  char text[MPI_MAX_ERROR_STRING];
  int n;
  MPI_Init(&argc, &argv);
  MPI_Error_string(MPI_ERR_TRUNCATE, text, &n);
  puts(text);
  MPI_Finalize();
  return 0;
}
C
truncated=truncat
if "$mpicc" -o "$work/text" "$work/text.c" &&
  [ "$(limited "$mpirun" -n 1 "$work/text" 2>/dev/null)" = 'Other MPI error' ]
then
  truncated='Other MPI error'
fi
size="mismatched collectives.*MPI_Bcast|MPI_Bcast.*$truncated"
mismatched bcast-less "$size"
mismatched bcast-large-less "$size"
mismatched bcast-small-more "$size"
mismatched bcast-large-larger "$size"
mismatched gather-more "MPI_Gather.*$truncated"
mismatched gather-large "MPI_Gather.*$truncated"
mismatched alltoall-more "MPI_Alltoall.*$truncated"

conclude
