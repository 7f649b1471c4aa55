#!/bin/sh
# pemscc, pemscxx, pemsfort and pems.pc: what they pass on, and that what they
# build is a program of pems.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
# They would change the compiler.
unset PEMS_CC PEMS_CXX PEMS_FC CC CXX FC

# is_program TITLE FILE: runs, by itself and with two ranks.
is_program() {
  expect "$1: runs alone" 0 '^rank 0 of 1 calls 1 argc 1 last' -- "$2"
  expect "$1: runs with two ranks" 0 '^rank 1 of 2 calls 1' -- \
    pemsrun -n 2 "$2"
}

expect "help" 0 '^usage: pemscc' -- pemscc --help
expect "-showme:version" 0 '^pemscc \(pems\) [0-9]' -- pemscc -showme:version
expect "-showme:compile" 0 '^-fPIC ' -- pemscc -showme:compile
expect "-showme:link" 0 '-lpems .*libpems_start.a.* -lpems-mpi .* -lmpi' -- pemscc -showme:link
expect "the compiler's own options" 0 '[0-9]' -- pemscc --version
lacks "nothing to link, no flags" 'pems' pemscc --version
lacks "-show does not run it" 'nothing happened' pemscc -show -o x no-such-file.c
expect "-show quotes" 0 "'-DX=a b' -DY=c" -- pemscc -show '-DX=a b' -DY=c hello.c
expect "-c only compiles" 0 -- pemscc -c hello.c
lacks "-c adds nothing to link" 'lpems|pems_start' pemscc -show -c hello.c
lacks "-E adds nothing to link" 'lpems|pems_start' pemscc -show -E hello.c
lacks "no PIE" ' -(no-)?pie|-fPIE' \
  pemscc -show -pie -fPIE -no-pie -fno-pie hello.c
lacks "a library has no entry point" 'pems_start' \
  pemscc -show -shared -o libx.so hello.c
expect "a library links" 0 -- pemscc -shared -o libx.so hello.c
refused "-static" '-static' pemscc -static hello.c
for option in -fsanitize=address -fsanitize=undefined,thread -fsanitize=leak \
  -pg -p; do
  refused "$option, compiling" "$option: .*mpicc" \
    pemscc $option -c hello.c
  refused "$option, linking" "$option: .*mpicc" \
    pemscc -o refused $option hello.o
done
expect "what does not replace malloc" 0 -- \
  pemscc -fsanitize=undefined -fno-sanitize-recover=all --coverage -o checked \
  hello.c
is_program "-fsanitize=undefined --coverage" ./checked
[ -s checked-hello.gcda ] || fail "--coverage: nothing was counted"
expect "an error of the compiler" 1 '' 'no-such-file' -- pemscc no-such-file.c
echo 'int missing(void); int main(void) { return missing(); }' >undefined.c
expect "an undefined symbol" 1 '' 'missing' -- pemscc undefined.c
echo 'int f(void) { return 0; }' >no_main.c
expect "no main" 1 '' 'main' -- pemscc no_main.c

expect "PEMS_CC" 0 '^my-cc -x ' -- env PEMS_CC='my-cc -x' CC=other pemscc -show hello.c
expect "CC" 0 '^my-cc ' -- env CC=my-cc pemscc -show hello.c
lacks "CC=pemscc is not itself" '^pemscc' env CC=pemscc pemscc -show hello.c

expect "compile and link" 0 -- pemscc -O2 -Wall -Werror -o one hello.c
is_program "one step" ./one
expect "link the object" 0 -- pemscc -o two hello.o
is_program "two steps" ./two
ar rc libhello.a hello.o
echo 'int unused;' >unused.c
expect "main in an archive" 0 -- pemscc -o archived unused.c -L. -lhello
is_program "main in an archive" ./archived
rm libhello.a
expect "MPI named by the user" 0 -- pemscc -lmpi -o named hello.o
is_program "MPI named by the user" ./named
for name in -lmpi -lmpich -lmpichfort /lib/libmpich.so.12; do
  expect "$name comes behind pems" 0 " -lpems .* $name( |\$)" -- \
    pemscc -show $name -o named hello.o
  lacks "$name is not before pems" " $name .* -lpems " \
    pemscc -show $name -o named hello.o
done
expect "-x c" 0 -- pemscc -x c -o language hello.c
is_program "-x c" ./language
expect "-flto" 0 -- pemscc -O2 -flto -o lto hello.c
is_program "-flto" ./lto
try readelf -d ./one
if grep 'NEEDED' "$work/out" | head -n 1 | grep -q 'libpems.so'; then
  echo "PASS libpems comes first"
else
  fail "libpems comes first"
fi
if command -v clang >/dev/null; then
  PEMS_CC=clang expect "clang" 0 -- env PEMS_CC=clang pemscc -o clang hello.c
  is_program "clang" ./clang
fi

cc=${REAL_CC:-cc} # may have options
if command -v pkg-config >/dev/null && command -v "${cc%% *}" >/dev/null; then
  PKG_CONFIG_PATH=${top_builddir:-.}/wrappers:${PKG_CONFIG_PATH:-}
  export PKG_CONFIG_PATH
  if pkg-config --exists pems; then
    # shellcheck disable=SC2046,SC2086 # options
    expect "pkg-config" 0 -- \
      $cc -o pc hello.c $(pkg-config --cflags --libs pems)
    is_program "pkg-config" ./pc
  fi
fi

if command -v pemscxx >/dev/null; then
  cat >hello.cc <<'END'
#include <iostream>
#include <mpi.h>
#include <string>
#include <vector>
static std::vector<std::string> words{"rank", "calls"};
template <class T> struct counter {
  static int n;
};
template <class T> int counter<T>::n;
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int n = ++counter<int>::n;
  try {
    throw std::string(words[0]);
  } catch (const std::string &what) {
    const std::string line = what + " " + std::to_string(rank) + " of " +
                             std::to_string(size) + " " + words[1] + " " +
                             std::to_string(n) + " argc " +
                             std::to_string(argc) + " last " +
                             argv[argc - 1] + "\n";
    std::cout << line << std::flush;
  }
  MPI_Finalize();
}
END
  expect "pemscxx" 0 -- pemscxx -O2 -o cxx hello.cc
  is_program "pemscxx" ./cxx
fi

if command -v pemsfort >/dev/null; then
  cat >sum.f90 <<'END'
program total
  include 'mpif.h'
  integer :: error, s
  call mpi_init(error)
  s = 1
  call mpi_allreduce(MPI_IN_PLACE, s, 1, MPI_INTEGER, MPI_SUM, &
                     MPI_COMM_WORLD, error)
  call mpi_finalize(error)
  if (s /= 3) stop 9
  print *, 'sum', s
end program
END
  expect "pemsfort" 0 -- pemsfort -O2 -o fort sum.f90
  expect "Fortran's MPI_IN_PLACE" 0 'sum *3' -- pemsrun -n 3 ./fort
fi
conclude
