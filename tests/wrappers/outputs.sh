#!/bin/sh
# What tests compare is whole: each process of two has a file of its own by
# tests/launcher.sh, and what it says on standard error, first or last, takes
# nothing of its output.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/launcher.sh
. "$here/tests/launcher.sh"

cat >both.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  int rank, first = argc > 1 && strcmp(argv[1], "first") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (first)
    fprintf(stderr, "error of %d\n", rank);
  printf("output of %d\n", rank);
  fflush(stdout);
  if (!first)
    fprintf(stderr, "error of %d\n", rank);
  return MPI_Finalize();
}
C
pemscc -o both both.c || exit 1

for when in first last; do
  # shellcheck disable=SC2046 # words
  try pemsrun -n 4 --procs=2 $(launcher_apart "$work/apart" pemsrun) ./both $when
  launcher_errors "$work/apart" >>"$work/err"
  launcher_output "$work/apart" >>"$work/out"
  [ "$status" -eq 0 ] || fail "$when: exit status $status"
  printf 'output of %s\n' 0 1 2 3 >wanted
  sort "$work/out" | cmp -s - wanted || fail "$when: not the output of each"
  [ "$(grep -c '^error of [0-3]$' "$work/err")" -eq 4 ] ||
    fail "$when: not the error of each"
  [ ! -e "$work/apart" ] || fail "$when: files were left"
done

# An mpirun whose output is lost is no oracle, whatever it is to print.
printf '#!/bin/sh\nexit 0\n' >silent
chmod +x silent
MPIRUN=$work/silent expect "an oracle that prints nothing" 1 'nothing is compared' -- \
  sh "$here/tests/mpi/compare.sh" -n 1 -i mem -c --pems-procs=1 "$here/tests/mpi/bcast.c"
conclude
