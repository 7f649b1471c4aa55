#!/bin/sh
# The C++ headers: programs in tests/em/cxx, built by g++ and clang++ without a
# warning, and run.
# shellcheck source=tests/em/lib.sh
. "$(dirname "$0")/lib.sh"

build=$(cd "${top_builddir:-$top/build}" && pwd)
library=$build/.libs
[ -f "$library/libpems-em.so" ] || {
  echo "SKIP $name: $library/libpems-em.so is not there: build pems first"
  exit 77
}
TMPDIR=$disk
export TMPDIR

# build COMPILER PROGRAM FLAGS...
build() {
  compiler=$1 program=$2
  shift 2
  try "$compiler" -std=c++20 -Wall -Wextra -Werror "$@" -I"$top/include" \
    "$top/tests/em/cxx/$program.cc" -o "$program" \
    -L"$library" -Wl,-rpath,"$library" -lpems-em -pthread
  [ $status -eq 0 ] || fault "$program by $compiler does not compile"
}

# program COMPILER PROGRAM FLAGS...
program() {
  build "$@"
  [ $status -eq 0 ] || return
  try "./$2"
  if [ $status -eq 0 ] && grep -qx right stdout.txt; then
    passed=$((passed + 1))
  else
    fault "$2 by $1: status $status"
  fi
}

compilers=
for compiler in g++ clang++; do
  printf '#include <ranges>\n#include <span>\nint main() {\n%s\n}\n' \
    'int v[2] = {}; return std::ranges::empty(std::span(v));' >try.cc
  if command -v $compiler >/dev/null &&
    $compiler -std=c++20 try.cc -o try 2>/dev/null; then
    compilers="$compilers $compiler"
  else
    echo "no $compiler that knows C++20 and its library: not tried"
  fi
done
[ -n "$compilers" ] || {
  echo "SKIP $name: no C++20 compiler"
  exit 77
}
for compiler in $compilers; do
  for source in "$top"/tests/em/cxx/*.cc; do
    program "$compiler" "$(basename "$source" .cc)"
  done
done
conclude
