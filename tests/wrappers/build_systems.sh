#!/bin/sh
# Projects in C, C++ and Fortran, of CMake, Meson, autotools and make: with the
# wrappers as compilers, with a plain compiler and CMake's FindMPI, with pems's
# own package for CMake and by pkg-config. Each must build without a warning, and
# pemsrun must run it.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
unset PEMS_CC PEMS_CXX PEMS_FC CC CXX FC CFLAGS CXXFLAGS FFLAGS LDFLAGS
built=${top_builddir:-$here/build}
for command in pemscxx pemsfort; do
  command -v $command >/dev/null || skip "$command is not there"
done

mkdir src
cat >src/part.c <<'END'
#include <mpi.h>
#include <stdio.h>
static int calls;
int part(void);
int part(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "part %d\n", rank);
  return ++calls;
}
END
cat >src/c.c <<'END'
#include <mpi.h>
#include <stdio.h>
int part(void);
int global;
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  global += rank;
  printf("c: rank %d of %d, %d %d\n", rank, size, global, part());
  MPI_Finalize();
  return 0;
}
END
cat >src/cxx.cpp <<'END'
#include <iostream>
#include <mpi.h>
#include <string>
#include <vector>
extern "C" int part(void);
static std::vector<std::string> words{"rank", "of"};
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try {
    throw words.at(0);
  } catch (const std::string &what) {
    std::cout << "cxx: " + what + " " + std::to_string(rank) + " of " +
                     std::to_string(size) + ", " + std::to_string(rank) + " " +
                     std::to_string(part()) + "\n"
              << std::flush;
  }
  MPI_Finalize();
}
END
cat >src/fortran.f90 <<'END'
program hello
  use mpi
  implicit none
  interface
    integer(c_int) function part() bind(c)
      use iso_c_binding
    end function
  end interface
  integer :: error, ranks, rank, n
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  ranks = 1
  call MPI_Allreduce(MPI_IN_PLACE, ranks, 1, MPI_INTEGER, MPI_SUM, &
                     MPI_COMM_WORLD, error)
  n = part()
  print '(a,i0,a,i0,a,i0,a,i0)', 'fortran: rank ', rank, ' of ', ranks, ', ', &
    rank, ' ', n
  call MPI_Finalize(error)
end program
END

# runs TITLE DIRECTORY LANGUAGE...: the programs of these names, with 3 ranks.
runs() {
  what=$1
  dir=$2
  shift 2
  for language; do
    expect "$what, $language: runs" 0 "^ *$language: rank 2 of 3, 2 1\$" -- \
      pemsrun -n 3 --pems-context=32M "$dir/$language"
  done
}

# quietly TITLE COMMAND...: succeeds, and nobody warns.
quietly() {
  what=$1
  shift
  try "$@"
  if [ $status -ne 0 ]; then
    fail "$what: status $status"
    return 1
  fi
  # CMake gives each compiler a file in C, which MPICH's mpifort has an option for
  # that is Fortran's.
  if grep -hi 'warning' "$work/out" "$work/err" |
    grep -v 'is valid for Fortran but not for C' >"$work/warnings"; then
    fail "$what: $(head -n 1 "$work/warnings")"
  fi
}

# --- CMake ---

cat >cmake_plain <<'END'
cmake_minimum_required(VERSION 3.18)
project(programs C CXX Fortran)
add_library(part STATIC src/part.c)
add_executable(c src/c.c)
add_executable(cxx src/cxx.cpp)
add_executable(fortran src/fortran.f90)
foreach(program c cxx fortran)
  target_link_libraries(${program} part)
endforeach()
END
cp cmake_plain cmake_mpi
cat >>cmake_mpi <<'END'
find_package(MPI REQUIRED)
target_link_libraries(part PUBLIC MPI::MPI_C)
target_link_libraries(c MPI::MPI_C)
target_link_libraries(cxx MPI::MPI_CXX)
target_link_libraries(fortran MPI::MPI_Fortran)
END
# As projects did before CMake had targets.
cat >cmake_old <<'END'
cmake_minimum_required(VERSION 3.18)
project(programs C)
find_package(MPI REQUIRED)
include_directories(${MPI_C_INCLUDE_PATH})
set(CMAKE_C_FLAGS "${CMAKE_C_FLAGS} ${MPI_C_COMPILE_FLAGS}")
set(CMAKE_EXE_LINKER_FLAGS "${CMAKE_EXE_LINKER_FLAGS} ${MPI_C_LINK_FLAGS}")
add_executable(c src/c.c src/part.c)
target_link_libraries(c ${MPI_C_LIBRARIES})
END
cp cmake_plain cmake_package
cat >>cmake_package <<'END'
find_package(pems 0.1 REQUIRED)
target_link_libraries(part PUBLIC pems::program)
add_executable(em src/em.c)
target_link_libraries(em pems::em)
END
cat >src/em.c <<'END'
#include <pems/sort.h>
#include <stdio.h>
int main(void) {
  puts(pems_sort_kernels()[0] ? "em: kernels" : "none");
  return 0;
}
END

# with_cmake TITLE PROJECT LANGUAGES OPTIONS...
with_cmake() {
  title=$1
  project=$2
  languages=$3
  shift 3
  rm -rf cmake
  mkdir cmake
  cp "$project" cmake/CMakeLists.txt
  cp -r src cmake/
  if quietly "$title: configure" cmake -S cmake -B cmake/build "$@" &&
    quietly "$title: build" cmake --build cmake/build -j 2; then
    # shellcheck disable=SC2086 # a list
    runs "$title" cmake/build $languages
  fi
}
if command -v cmake >/dev/null; then
  all='c cxx fortran'
  wrappers='-DCMAKE_C_COMPILER=pemscc -DCMAKE_CXX_COMPILER=pemscxx
    -DCMAKE_Fortran_COMPILER=pemsfort'
  mpi='-DMPI_C_COMPILER=pemscc -DMPI_CXX_COMPILER=pemscxx
    -DMPI_Fortran_COMPILER=pemsfort'
  # shellcheck disable=SC2086 # lists
  {
    with_cmake "CMake" cmake_plain "$all" $wrappers
    with_cmake "CMake, FindMPI by the wrappers" cmake_mpi "$all" $wrappers
    [ -z "${PEMS_TEST_LONG:-}" ] ||
      with_cmake "CMake, FindMPI" cmake_mpi "$all" $mpi
    with_cmake "CMake, FindMPI, optimised" cmake_mpi "$all" $mpi \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    with_cmake "CMake, FindMPI's variables" cmake_old c \
      -DMPI_C_COMPILER=pemscc
    with_cmake "CMake, find_package(pems)" cmake_package "$all" \
      -Dpems_DIR="$built/wrappers"
  }
  expect "CMake, pems::em" 0 '^em: kernels' -- cmake/build/em
  if command -v clang >/dev/null; then
    with_cmake "CMake, FindMPI, clang" cmake_old c -DMPI_C_COMPILER=pemscc \
      -DCMAKE_C_COMPILER=clang
  fi
else
  echo "SKIPPED: CMake: cmake is not installed"
fi

# --- Meson ---

cat >meson.build <<'END'
project('programs', 'c', 'cpp', 'fortran')
part = static_library('part', 'src/part.c')
executable('c', 'src/c.c', link_with: part)
executable('cxx', 'src/cxx.cpp', link_with: part)
executable('fortran', 'src/fortran.f90', link_with: part,
  link_language: 'fortran')
END
# mpi_of OPTIONS...: the MPI that plain programs are linked with.
mpi_of() {
  ${MPICC:-mpicc} -o plain src/c.c src/part.c "$@" &&
    ldd ./plain | sed -n 's/^[[:space:]]*\(libmpi[^ ]*\) .*/\1/p'
}
if command -v meson >/dev/null && command -v ninja >/dev/null; then
  languages='c cxx fortran'
  # For Fortran it names the system's folders, and before the MPI's own: plain
  # mpifort takes another MPI that is there, too.
  system=$(${REAL_CC:-cc} -print-file-name=libmpi.so)
  if [ "$(mpi_of)" != "$(mpi_of "-L$(dirname "$system")")" ]; then
    echo "SKIPPED: Meson, Fortran: another MPI's $system"
    languages='c cxx'
    sed -i '/fortran/{s/, .fortran.)/)/;/executable/,$d;}; /link_language/d' meson.build
  fi
  # shellcheck disable=SC2086 # a list
  quietly "Meson: configure" env CC=pemscc CXX=pemscxx FC=pemsfort \
    meson setup meson && quietly "Meson: build" ninja -C meson &&
    runs "Meson" meson $languages
  cat >meson.build <<'END'
project('programs', 'c')
executable('c', 'src/c.c', 'src/part.c', dependencies: dependency('pems'))
END
  # The linker must not be told that it makes an executable.
  quietly "Meson, pkg-config: configure" env \
    PKG_CONFIG_PATH="$built/wrappers" meson setup meson_pc -Db_pie=false &&
    quietly "Meson, pkg-config: build" ninja -C meson_pc &&
    runs "Meson, pkg-config" meson_pc c
else
  echo "SKIPPED: Meson: meson or ninja is not installed"
fi

# --- autotools and make ---

if command -v autoreconf >/dev/null && command -v automake >/dev/null; then
  mkdir auto
  cp -r src auto/
  cat >auto/configure.ac <<'END'
AC_INIT([programs], [1])
AM_INIT_AUTOMAKE([foreign subdir-objects])
AC_PROG_CC
AC_PROG_CXX
AC_PROG_FC
AC_PROG_RANLIB
AM_PROG_AR
AC_CHECK_FUNC([MPI_Init], [], [AC_MSG_ERROR([no MPI])])
AC_CHECK_SIZEOF([long])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
  cat >auto/Makefile.am <<'END'
bin_PROGRAMS = c cxx fortran
noinst_LIBRARIES = libpart.a
libpart_a_SOURCES = src/part.c
c_SOURCES = src/c.c
cxx_SOURCES = src/cxx.cpp
fortran_SOURCES = src/fortran.f90
LDADD = libpart.a
END
  (cd auto && autoreconf -i >/dev/null 2>&1) || fail "autoreconf"
  (cd auto && quietly "autotools: configure" ./configure -q CC=pemscc \
    CXX=pemscxx FC=pemsfort && quietly "autotools: make" make -s) &&
    runs "autotools" auto c cxx fortran
else
  echo "SKIPPED: autotools: autoreconf or automake is not installed"
fi
cat >Makefile <<'END'
all: c cxx fortran
c: src/c.o src/part.o
	$(CC) $(LDFLAGS) -o $@ $^
cxx: src/cxx.o src/part.o
	$(CXX) $(LDFLAGS) -o $@ $^
fortran: src/fortran.o src/part.o
	$(FC) $(LDFLAGS) -o $@ $^
src/fortran.o: src/fortran.f90
	$(FC) -c -o $@ $<
END
quietly "make" make -s CC=pemscc CXX=pemscxx FC=pemsfort &&
  runs "make" . c cxx fortran

# A C source given to pemsfort, and questions in FindMPI's and others' ways.
quietly "C by pemsfort" pemsfort -o by_fortran src/c.c src/part.c
expect "-showme:incdirs" 0 '/include( |$)' -- pemscc -showme:incdirs
expect "-showme:libdirs" 0 "(^| )$built/.libs( |\$)" -- pemscc -showme:libdirs
expect "-showme:libs" 0 '^pems .*pems-mpi .*mpi(ch)?( |$)' -- pemscc -showme:libs
expect "--showme:libs" 0 '^pems .*mpi' -- pemscc --showme:libs
expect "-showme:command" 0 '^[a-z/0-9 -]+$' -- pemscc -showme:command
expect "-show" 0 'fPIC.*-lpems-mpi' -- pemscc -show
expect "-compile_info" 0 'fPIC' -- pemscc -compile_info
expect "-link_info" 0 '-lpems-mpi' -- pemscc -link_info
lacks "FindMPI gets no -fPIC, which it drops" ' -fPIC' env \
  I_MPI_FORT_BIND=disable I_MPI_DEBUG_INFO_STRIP=disable pemscc -showme:compile
lacks "nor others what only it understands" ';' pemscc -showme:compile
conclude
