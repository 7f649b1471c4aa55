#!/bin/sh
# Tools that wrap MPI's functions, as the standard has it: theirs is MPI_X, which
# calls PMPI_X. Linked statically, as shared libraries, as part of the program and
# preloaded; in C and in Fortran. The same under mpirun, to compare.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/launcher.sh
. "$here/tests/launcher.sh"
unset PEMS_CC PEMS_CXX PEMS_FC CC CXX FC

# Rank r asks r + 1 times, so that the counts of ranks must not mix.
cat >tool.c <<'END'
#include <mpi.h>
#include <stdio.h>
static int calls;
int MPI_Comm_size(MPI_Comm comm, int *size) {
  calls++;
  return PMPI_Comm_size(comm, size);
}
int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("tool: rank %d calls %d\n", rank, calls);
  fflush(stdout);
  return PMPI_Finalize();
}
END
cat >main.c <<'END'
#include <mpi.h>
void ask(int n);
int main(int argc, char **argv) {
  int rank, size, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i <= rank; i++)
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifdef ASK
  ask(2);
#endif
  return MPI_Finalize();
}
END
# A library that calls MPI and knows nothing of tools.
cat >ask.c <<'END'
#include <mpi.h>
void ask(int n) {
  int size;
  while (n-- > 0)
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}
END
mpicc=${MPICC:-mpicc}
mkdir static shared
"$mpicc" -O1 -fPIC -c tool.c -o tool.o && ar rc static/libprof.a tool.o &&
  "$mpicc" -shared -o shared/libprof.so tool.o &&
  "$mpicc" -O1 -fPIC -shared -o shared/libask.so ask.c || exit 1
rpath="-Wl,-rpath,$work/shared"

# counts TITLE MORE COMMAND...: the tool counted r + 1 + MORE calls of rank r.
counts() {
  title=$1
  more=$2
  shift 2
  try "$@"
  printf 'tool: rank %d calls %d\n' 0 $((1 + more)) 1 $((2 + more)) \
    2 $((3 + more)) >wanted
  grep '^tool' out | sort >found
  if [ $status -eq 0 ] && cmp -s found wanted; then
    echo "PASS $title"
  else
    fail "$title: status $status, not what the tool should print"
  fi
}

# on_pems TITLE MORE COMMAND...: the command is what pemsrun runs.
on_pems() {
  it=$1
  n=$2
  shift 2
  counts "$it, one process" "$n" pemsrun -n 3 "$@"
  counts "$it, two processes" "$n" pemsrun -n 3 --procs=2 "$@"
}

# builds TITLE MORE WRAPPER WRAPPER ARGUMENTS...: with Open MPI and with pems.
builds() {
  what=$1
  extra=$2
  plain=$3
  ours=$4
  shift 4
  if "$plain" -O1 -o plain "$@" && "$ours" -O1 -o ours "$@"; then
    counts "$what, mpirun" "$extra" \
      "${MPIRUN:-mpirun}" -n 3 ./plain
    on_pems "$what" "$extra" ./ours
  else
    fail "$what: cannot be built"
  fi
}

builds "a static tool" 0 "$mpicc" pemscc main.c -Lstatic -lprof
builds "a shared tool" 0 "$mpicc" pemscc main.c -Lshared -lprof "$rpath"
builds "in the program" 0 "$mpicc" pemscc main.c tool.c
builds "a static tool, and a library that calls MPI" 2 "$mpicc" pemscc -DASK \
  main.c -Lshared -lask "$rpath" -Lstatic -lprof
builds "a shared tool, and a library that calls MPI" 2 "$mpicc" pemscc -DASK \
  main.c -Lshared -lask -lprof "$rpath"
builds "in the program, and a library that calls MPI" 2 "$mpicc" pemscc -DASK \
  main.c tool.c -Lshared -lask "$rpath"
# mpicc lets MPI win here, pemscc always has MPI last.
pemscc -o last main.c -lmpi -Lshared -lprof "$rpath" || exit 1
on_pems "MPI named before the tool" 0 ./last

# Preloaded: one for all ranks of a process would count them together.
pemscc -O1 -o bare main.c || exit 1
LD_PRELOAD=$work/shared/libprof.so
export LD_PRELOAD
on_pems "preloaded" 0 ./bare
unset LD_PRELOAD

if command -v pemsfort >/dev/null; then
  # One function that is Open MPI's own in Fortran, and one that is pems's.
  cat >tool_f.c <<'END'
#include <mpi.h>
#include <stdio.h>
static int calls;
void pmpi_comm_size_(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *error);
void pmpi_waitall_(MPI_Fint *n, MPI_Fint *requests, MPI_Fint *statuses,
                   MPI_Fint *error);
void pmpi_finalize_(MPI_Fint *error);
void mpi_comm_size_(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *error) {
  calls++;
  pmpi_comm_size_(comm, size, error);
}
void mpi_waitall_(MPI_Fint *n, MPI_Fint *requests, MPI_Fint *statuses,
                  MPI_Fint *error) {
  calls += 10;
  pmpi_waitall_(n, requests, statuses, error);
}
void mpi_finalize_(MPI_Fint *error) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("tool: rank %d calls %d\n", rank, calls);
  fflush(stdout);
  pmpi_finalize_(error);
}
END
  cat >main.f90 <<'END'
program asks
  include 'mpif.h'
  integer :: error, rank, n, i, requests(1)
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  do i = 0, rank
    call mpi_comm_size(MPI_COMM_WORLD, n, error)
  end do
  requests(1) = MPI_REQUEST_NULL
  call mpi_waitall(1, requests, MPI_STATUSES_IGNORE, error)
  call mpi_finalize(error)
end program
END
  mpifort=${MPIFORT:-mpifort}
  "$mpicc" -O1 -fPIC -c tool_f.c -o tool_f.o &&
    ar rc static/libprof_f.a tool_f.o &&
    "$mpicc" -shared -o shared/libprof_f.so tool_f.o || exit 1
  builds "Fortran, a static tool" 10 "$mpifort" pemsfort main.f90 -Lstatic \
    -lprof_f
  builds "Fortran, a shared tool" 10 "$mpifort" pemsfort main.f90 -Lshared \
    -lprof_f "$rpath"
else
  echo "pemsfort is not there: tools for Fortran were not tried"
fi

# Not by pemscc, and MPI before pems: every call would go to the real one.
if command -v pkg-config >/dev/null; then
  PKG_CONFIG_PATH=${top_builddir:-.}/wrappers
  export PKG_CONFIG_PATH
  # Open MPI's wrapper knows the first.
  mpi_libs=$("$mpicc" -showme:link 2>err) ||
    mpi_libs=$("$mpicc" -show | sed 's/^[^ ]* //')
  # shellcheck disable=SC2046,SC2086 # lists
  try ${REAL_CC:-cc} -o wrong main.c $(pkg-config --cflags pems) \
    $mpi_libs $(pkg-config --libs pems)
  [ $status -eq 0 ] || fail "linked with MPI first: cannot be built"
  refused "linked with MPI first" 'linked with MPI before pems' \
    pemsrun -n 3 ./wrong
fi
conclude
