#!/bin/sh
# Two MPIs on one machine, mixed: the program of one started by the other's
# command or by the other's pemsrun, a library for the other in the link line or
# in the place of another. One line says what is mixed with what, exit status 2.
# Needs a second MPI, and for pemsrun a second pems: the tree above this one, if
# this is one of `make check-flavour`.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/launcher.sh
. "$here/tests/launcher.sh"

# The other MPI: OTHER_MPICC and its mpiexec, or Debian's.
case $launcher in
  hydra) other=${OTHER_MPICC:-mpicc.openmpi} ;;
  *) other=${OTHER_MPICC:-mpicc.mpich} ;;
esac
other=$(command -v "$other") || skip "no second MPI: no $other (Debian: mpich, libmpich-dev)"
tail=${other##*/mpicc}
start=${other%/*}/mpiexec$tail
[ -x "$start" ] || skip "no second MPI: no $start (Debian: mpich)"

# One line of pems, whatever else the other's command says, and soon.
one_line() {
  title=$1
  pattern=$2
  shift 2
  try "$@"
  lines=$(grep -c '^pems: ' "$work/err")
  if [ $status -ne 2 ]; then
    fail "$title: exit status $status, expected 2"
  elif [ "$lines" -ne 1 ]; then
    fail "$title: $lines lines of pems, expected 1"
  elif ! grep -Eq -e "^pems: .*$pattern" "$work/err"; then
    fail "$title: no line matches '$pattern'"
  elif grep -q rank "$work/out"; then
    fail "$title: the program ran"
  else
    echo "PASS $title"
  fi
}

pemscc -g -o hello hello.c || exit 1
mine='built (by pemscc )?for (Open MPI|MPICH|Intel MPI|the ABI of MPI)'

one_line "the other's mpiexec" "$mine.*started by (Open MPI|MPICH)'s" \
  "$start" -n 3 ./hello --pems-v=6
one_line "the other's mpiexec, by a script" "$mine.*started by" \
  "$start" -n 2 sh -c './hello --pems-v=4; exit $?'
expect "one process of it is a job" 0 '^rank 1 of 2' '' -- \
  "$start" -n 1 ./hello --pems-v=2
expect "pemsrun in a process of it" 0 '^rank 1 of 2' '' -- \
  "$start" -n 2 sh -c 'exec pemsrun -n 2 ./hello'

above=${top_builddir:-.}/..
if [ -x "$above/pemsrun" ] && [ -x "$above/wrappers/pemscc" ]; then
  for procs in 1 2; do
    one_line "the other's pemsrun, $procs processes" \
      "$mine.*pemsrun for (Open MPI|MPICH)" \
      "$above/pemsrun" -n 4 --procs=$procs ./hello
  done
  mkdir above
  "$above/wrappers/pemscc" -o above/hello hello.c || exit 1
  one_line "the other's program, 2 processes" "$mine.*pemsrun for" \
    pemsrun -n 4 --procs=2 above/hello
fi

cat >other.c <<'END'
#include <mpi.h>
int other(void);
int other(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
END
cat >user.c <<'END'
#include <mpi.h>
int other(void);
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int rank = other();
  MPI_Finalize();
  return rank < 0;
}
END
mkdir good bad
pemscc -shared -o good/libother.so other.c || exit 1
"$other" -fPIC -shared -o bad/libother.so other.c || exit 1
refused "a library for the other in the link line" \
  'bad/libother.so brings libmpi.*, another MPI than that of pemscc' \
  pemscc -o user user.c -Lbad -lother -Wl,-rpath,"$work/bad"
[ ! -e user ] || fail "the program is there"
pemscc -o user user.c -Lgood -lother || exit 1
expect "the right library" 0 -- \
  env LD_LIBRARY_PATH="$work/good" pemsrun -n 2 ./user
for procs in 1 2; do
  one_line "a library for the other at run time, $procs processes" \
    "linked with two MPIs, libmpi.* and libmpi" \
    env LD_LIBRARY_PATH="$work/bad" pemsrun -n 2 --procs=$procs ./user
done

# As interpreters open their modules, when MPI runs.
cat >opener.c <<'END'
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  void *const library = dlopen("libother.so", RTLD_NOW);
  int (*const other)(void) =
    library ? (int (*)(void))dlsym(library, "other") : NULL;
  printf("rank %d\n", other ? other() : -1);
  MPI_Finalize();
  return 0;
}
END
pemscc -o opener opener.c -ldl || exit 1
for procs in 1 2; do
  expect "a library that is opened, $procs processes" 0 '^rank 1$' -- \
    env LD_LIBRARY_PATH="$work/good" pemsrun -n 2 --procs=$procs ./opener
  one_line "one for the other, $procs processes" \
    "libother.so: .*libraries of two MPIs, libmpi.* and libmpi" \
    env LD_LIBRARY_PATH="$work/bad" pemsrun -n 2 --procs=$procs ./opener
done

conclude
