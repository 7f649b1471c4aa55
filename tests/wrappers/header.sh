#!/bin/sh
# pems.h: a program that includes it is built and runs with and without pems.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
unset PEMS_CC PEMS_CXX PEMS_FC CC CXX FC OMPI_CC OMPI_CXX OMPI_FC
mpicc=${MPICC:-mpicc}
mpicxx=${MPICXX:-mpicxx}
mpifort=${MPIFORT:-mpifort}
OMPI_MCA_ess_singleton_isolated=1
export OMPI_MCA_ess_singleton_isolated

# Prints "pems VERSION" or "plain", or what is wrong. Two files, for both have
# the functions of the header. Without NO_MPI an argument makes it call MPI,
# which takes much longer than all the rest.
cat >program.c <<'END_C'
#include <pems.h>
#ifndef NO_MPI
#include <mpi.h>
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N ((size_t)1 << 20)

#ifdef __cplusplus
extern "C"
#endif
    int discard_elsewhere(void *p, size_t n);

static char table[N];

static void wrong(const char *what) {
  printf("wrong: %s\n", what);
  exit(1);
}

static void check(void) {
  const int no = pems_version() ? -1 : 0; /* without pems, all is well */
  char *const p = (char *)malloc(2 * N);
  char local[64];
  size_t i;
  memset(p, 1, 2 * N);
  memset(table, 2, N);
  errno = 77;
  if (pems_discard(p, N) != 0) wrong("heap");
  if (discard_elsewhere(table, N) != 0) wrong("static");
  if (pems_discard(p + 5, 3) != 0) wrong("a few bytes");
  if (pems_discard(NULL, 0) != 0) wrong("nothing");
  if (pems_discard(NULL, 1) != no) wrong("null");
  if (pems_discard(local, sizeof local) != no) wrong("stack");
  if (pems_discard(p, (size_t)-1) != no) wrong("all memory");
  if (pems_discard((void *)&errno, 1) != no) wrong("thread-local");
  if (pems_checkpoint() != no) wrong("checkpoint");
  if (errno != 77) wrong("errno");
  for (i = N; i < 2 * N; i++)
    if (p[i] != 1) wrong("memory behind");
  memset(p, 3, N);
  memset(table, 4, N);
  for (i = 0; i < N; i++)
    if (p[i] != 3 || table[i] != 4) wrong("memory written again");
  free(p);
}

#ifndef NO_MPI
static void call_mpi(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  check();
  MPI_Barrier(MPI_COMM_WORLD);
  check();
  MPI_Finalize();
}
#endif

int main(int argc, char **argv) {
  const char *const version = pems_version();
  (void)argv;
  check();
#ifndef NO_MPI
  if (argc > 1) call_mpi(argc, argv);
#endif
  if (argc > 9) wrong("arguments");
  if (version)
    printf("pems %s\n", version);
  else
    printf("plain\n");
  return 0;
}
END_C
cat >elsewhere.c <<'END_C'
#include <pems.h>
#ifdef __cplusplus
extern "C"
#endif
    int discard_elsewhere(void *p, size_t n);
int discard_elsewhere(void *p, size_t n) {
  return pems_discard(p, n);
}
END_C
cp program.c program.cc
cp elsewhere.c elsewhere.cc

strict='-Wall -Wextra -Werror -pedantic'
version=$(pemscc -showme:version | sed 's/.* //')

# plain TITLE COMPILER OPTIONS: links without pems, runs.
plain() {
  title=$1
  shift
  expect "plain: $title: links" 0 -- "$@" "-I$here/include" -o plain
  expect "plain: $title: runs" 0 '^plain$' -- ./plain
}

# can COMPILER OPTIONS: does it compile and link at all with these options?
echo 'int main(void) { return 0; }' >can.c
can() {
  "$@" -o can can.c >can.log 2>&1
}

c='program.c elsewhere.c'
cxx='program.cc elsewhere.cc'
# shellcheck disable=SC2086 # lists of words
for compiler in gcc clang; do
  command -v "$compiler" >/dev/null || continue
  export OMPI_CC="$compiler"
  for options in '-O0' '-O2' '-O0 -no-pie -fno-pic' '-O2 -no-pie -fno-pic' \
    '-O2 -pie -fPIE' '-O2 -fPIC' '-O2 -flto' '-O2 -static -DNO_MPI' \
    '-O2 -static-pie -fPIE -DNO_MPI' '-O2 -Wl,-z,defs -Wl,-z,now' \
    '-O2 -Wl,--gc-sections -ffunction-sections' '-O2 -fuse-ld=lld' \
    '-O2 -fuse-ld=gold' '-O2 -flto -fuse-ld=lld'; do
    # MPI has no static library.
    case $options in
      *NO_MPI*) link=$compiler ;;
      *) link=$mpicc ;;
    esac
    if can "$link" $options; then
      plain "$compiler $options" "$link" -std=c99 $strict $options $c
    else
      echo "SKIP plain: $compiler $options: not supported here"
    fi
  done
  for std in c11 c17 gnu99; do
    plain "$compiler -std=$std" "$mpicc" -std=$std $strict $c
  done
done
unset OMPI_CC

# shellcheck disable=SC2086
for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || continue
  export OMPI_CXX="$compiler"
  # What mpi.h has for C++ is not without warnings.
  for options in '-O0' '-O2' '-O2 -no-pie' '-O2 -flto' '-O0 -std=c++20' \
    '-O2 -std=c++98'; do
    plain "$compiler $options" "$mpicxx" -DOMPI_SKIP_MPICXX -Wall -Wextra \
      -Werror -Wno-long-long $options $cxx
  done
  expect "plain: $compiler: no warning" 0 -- "$compiler" $strict -std=c++11 \
    -DNO_MPI "-I$here/include" -fsyntax-only elsewhere.cc
done
unset OMPI_CXX

# A compiler that pems does not know.
plain "neither GNU C nor ELF" "$mpicc" -U__ELF__ program.c elsewhere.c
expect "plain: C with MPI" 0 '^plain$' -- "$MPIRUN" -n 1 ./plain mpi

# pems TITLE COMPILER OPTIONS: the same with pems.
pems() {
  title=$1
  shift
  expect "pems: $title: links" 0 -- "$@" -o pems
  expect "pems: $title: runs" 0 "^pems $version\$" -- ./pems
}
# shellcheck disable=SC2086
for options in '-O0' '-O2 -flto'; do
  pems "C $options" pemscc -std=c99 $strict $options $c
  command -v clang >/dev/null || continue
  pems "clang $options" env PEMS_CC=clang pemscc $options $c
done
# shellcheck disable=SC2086
if command -v pemscxx >/dev/null; then
  for options in '-O0' '-O2 -flto'; do
    pems "C++ $options" pemscxx $options $cxx
  done
fi
# A library that knows nothing of pems may be linked with a program of it.
expect "object without pems" 0 -- "$mpicc" -O2 -fPIC "-I$here/include" \
  -c elsewhere.c
pems "with an object of mpicc" pemscc program.c elsewhere.o
expect "library without pems" 0 -- "$mpicc" -O2 -fPIC "-I$here/include" \
  -shared -o libelsewhere.so elsewhere.c
pems "with a library of mpicc" \
  pemscc program.c -L. -lelsewhere "-Wl,-rpath,$work"
expect "pems: C with MPI" 0 "^pems $version\$" -- pemsrun -n 3 ./pems mpi
expect "pems: swapped at every wait" 0 "^pems $version\$" -- \
  env PEMS_TEST_EVICT_ALWAYS=1 pemsrun -n 3 ./pems mpi

# Other threads and children of a rank.
cat >others.c <<'END_C'
#include <pems.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static char *p;
static void *helper(void *unused) {
  printf("helper %d\n", pems_discard(p, 65536));
  return unused;
}
int main(void) {
  pthread_t thread;
  int status;
  p = malloc(65536);
  pthread_create(&thread, NULL, helper, NULL);
  pthread_join(thread, NULL);
  const pid_t child = fork();
  if (child == 0)
    _exit(pems_discard(p, 65536) == -1 ? 5 : 6);
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
  return 0;
}
END_C
expect "pems: others" 0 -- pemscc -pthread -o others others.c
expect "pems: a thread of the program" 0 '^helper -1$' -- ./others
expect "pems: a child" 0 '^child 5$' -- ./others

# As pems(7) has it: a C function that Fortran calls.
manual=$here/doc/man/pems.7
cat >between.c <<'END_C'
#include <pems.h>
int discard(void *p, size_t n) { return pems_discard(p, n); }
END_C
{
  echo 'program work'
  # The interface, without the escapes of roff.
  sed -n '/^interface$/,/^end interface$/p' "$manual"
  cat <<'END_F'
  real, allocatable, target :: a(:)
  allocate (a(100000))
  a = 1
  print *, 'discard', discard(c_loc(a), &
    size(a, kind=c_size_t) * c_sizeof(a(1)))
  a = 2
  print *, 'sum', sum(a)
end program
END_F
} >body.f90
sed 's/^program work$/&\n  use, intrinsic :: iso_c_binding/' body.f90 >work.f90
if command -v "$mpifort" >/dev/null; then
  expect "plain: Fortran's C" 0 -- "$mpicc" -c "-I$here/include" between.c
  expect "plain: Fortran links" 0 -- "$mpifort" -o fort work.f90 between.o
  expect "plain: Fortran runs" 0 'discard *0' -- ./fort
fi
if command -v pemsfort >/dev/null; then
  expect "pems: Fortran's C" 0 -- pemscc -c between.c
  expect "pems: Fortran links" 0 -- pemsfort -o fort work.f90 between.o
  expect "pems: Fortran runs" 0 'discard *0' -- ./fort
fi
conclude
