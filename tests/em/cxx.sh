#!/bin/sh
# The C++ headers: programs in tests/em/cxx, which g++ and clang++ take without a
# warning, run.
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

# compiled COMPILER PROGRAM FLAGS...
compiled() {
  compiler=$1 program=$2
  shift 2
  try "$compiler" -std=c++20 -Wall -Wextra -Werror -I"$top/include" \
    "$top/tests/em/cxx/$program.cc" "$@"
  [ $status -eq 0 ] || fault "$program by $compiler does not compile"
}

# runs PROGRAM
runs() {
  try "./$1"
  if [ $status -eq 0 ] && grep -qx right stdout.txt; then
    passed=$((passed + 1))
  else
    fault "$1: status $status"
  fi
}

compilers=
for compiler in g++ clang++; do
  printf '#include <ranges>\n#include <span>\nint main() {\n%s\n}\n' \
    'int v[2] = {}; return std::ranges::empty(std::span(v));' >try.cc
  if command -v $compiler >/dev/null &&
    $compiler -std=c++20 try.cc -o try 2>/dev/null; then
    compilers="${compilers:+$compilers }$compiler"
  else
    echo "no $compiler that knows C++20 and its library: not tried"
  fi
done
[ -n "$compilers" ] || {
  echo "SKIP $name: no C++20 compiler"
  exit 77
}
# The programs run once: a second compiler is there for what it refuses.
for source in "$top"/tests/em/cxx/*.cc; do
  program=$(basename "$source" .cc)
  for compiler in $compilers; do
    if [ "$compiler" = "${compilers%% *}" ]; then
      compiled "$compiler" "$program" -o "$program" -L"$library" \
        -Wl,-rpath,"$library" -lpems-em -pthread
      [ $status -ne 0 ] || runs "$program"
    else
      compiled "$compiler" "$program" -fsyntax-only
    fi
  done
done
conclude
