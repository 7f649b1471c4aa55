#!/bin/sh
# The ABI of MPI 5.0: what mpicc_abi has compiled once, the same file, runs on two
# MPIs; what pemscc has compiled once runs on pems over both, as plain. For pems
# that is built for that ABI (./bootstrap check abi), with a second MPI that has
# it, too: its folder is OTHER_ABI, with bin/mpiexec and lib/libmpi_abi.so.1.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/launcher.sh
. "$here/tests/launcher.sh"

case ${MPICC:-} in
  *mpicc_abi*) ;;
  *) skip "pems is not built for the ABI of MPI 5.0" ;;
esac
other=${OTHER_ABI:-}
[ -n "$other" ] || skip "OTHER_ABI does not say where a second MPI is"
[ -x "$other/bin/mpiexec" ] && [ -e "$other/lib/libmpi_abi.so.1" ] || {
  fail "OTHER_ABI=$other: no bin/mpiexec, or no lib/libmpi_abi.so.1"
  conclude
}
# Of Intel MPI: no network is looked for.
FI_PROVIDER_PATH=$other/lib/libfabric I_MPI_FABRICS=shm
export FI_PROVIDER_PATH I_MPI_FABRICS

# started MPI PROCESSES COMMAND...: by the command of the first MPI or the other,
# whose library comes before the one that the program was linked with.
started() {
  mpi_command=${MPIRUN:-mpiexec} library_path=${LD_LIBRARY_PATH:-}
  if [ "$1" = other ]; then
    mpi_command=$other/bin/mpiexec
    library_path=$other/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  fi
  processes=$2
  shift 2
  LD_LIBRARY_PATH=$library_path limited "$mpi_command" -n "$processes" "$@" \
    </dev/null
}

cat >which.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int n, rank;
  MPI_Init(&argc, &argv);
  MPI_Get_library_version(text, &n);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    printf("%.30s\n", text);
  }
  MPI_Finalize();
  return 0;
}
END

same() {
  sort "$1" >"$1.sorted"
  cmp -s "$1.sorted" "$2"
}

# compare PROGRAM RANKS: all ways to run it print the same, sorted.
compare() {
  program=$1 ranks=$2
  source=$here/tests/mpi/$program.c
  "$MPICC" -std=gnu17 -O1 -o "plain_$program" "$source" -lm || exit 1
  pemscc -std=gnu17 -O1 -o "$program" "$source" -lm || exit 1
  for mpi in first other; do
    started $mpi "$ranks" "./plain_$program" >out 2>err || fail "$program: plain on the $mpi MPI: status $?"
    sort out >"oracle.$mpi"
  done
  cmp -s oracle.first oracle.other || fail "$program: two MPIs differ"
  for mpi in first other; do
    for processes in 1 2; do
      PEMS_TEST_EVICT_ALWAYS=1 started $mpi $processes "./$program" \
        --pems-v="$ranks" --pems-k=1 --pems-context=24M \
        --pems-disk="$work" >out 2>err
      status=$?
      [ $status -eq 0 ] && same out oracle.$mpi && echo "PASS $program on pems over the $mpi MPI, $processes processes" ||
        fail "$program on pems over the $mpi MPI, $processes processes: status $status"
    done
  done
}

"$MPICC" -o plain_which which.c || exit 1
pemscc -o which which.c || exit 1
for kind in ./plain_which "./which --pems-v=2"; do
  for mpi in first other; do
    # shellcheck disable=SC2086 # a program and an option
    started $mpi 2 $kind >$mpi.out 2>err || fail "$kind on the $mpi MPI: status $?"
  done
  cp other.out out
  [ -s first.out ] && [ -s other.out ] && ! cmp -s first.out other.out ||
    fail "$kind: is not on two MPIs"
done
compare nonblocking 4
conclude
