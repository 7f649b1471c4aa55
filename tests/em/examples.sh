#!/bin/sh
# doc/examples: one for each public header, which compiles as strict C (those of
# C++ headers, in cxx/, as C++20), and prints what the file beside it has.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need pkg-config
built=${top_builddir:-$top/build}
PKG_CONFIG_PATH=$built/wrappers
export PKG_CONFIG_PATH
examples=$top/doc/examples

# says EXAMPLE: $work/out is what EXAMPLE.out has.
says() {
  [ -s "$1.out" ] || fail "$1: no $1.out"
  awk '{ sub(/ *$/, ""); print }' "$work/out" >"$work/said"
  cmp -s "$work/said" "$1.out" || {
    fail "$1: prints something else"
    diff "$work/said" "$1.out"
  }
}

for header in "$top"/include/pems.h "$top"/include/pems/*.h; do
  base=$(basename "$header" .h)
  example=$examples/$base.c
  [ -f "$example" ] || {
    fail "$base.h: no example: write doc/examples/$base.c"
    continue
  }
  grep -qE "^#include <(pems/)?$base\.h>" "$example" ||
    fail "$base.c: does not include $base.h"
  grep -q "($base.c)" "$examples/README.md" || fail "README.md: no $base.c"
  case $base in
    pems | cgm)
      pemscc -std=c11 -Wall -Werror -o "$work/$base" "$example" &&
        pemsrun -n 2 "$work/$base" >"$work/out" 2>"$work/err" ;;
    *)
      # shellcheck disable=SC2046 # lists
      ${REAL_CC:-cc} -std=c11 -Wall -Werror -o "$work/$base" "$example" \
        $(pkg-config --cflags --libs pems-em-uninstalled) &&
        echo '3 -1 2.5' | "$work/$base" >"$work/out" 2>"$work/err" ;;
  esac || {
    fail "$base.c: does not compile, or fails"
    cat "$work/err"
  }
  says "$examples/$base"
done

# What is too old for C++20 says so in tests/em/cxx.sh.
cxx=${REAL_CXX:-c++}
echo '#include <concepts>' >"$work/try.cc"
$cxx -std=c++20 -fsyntax-only "$work/try.cc" 2>"$work/err" || {
  echo "no $cxx that knows C++20: its examples were not tried"
  exit $status
}
for header in "$top"/include/pems/*.hpp; do
  base=$(basename "$header" .hpp)
  example=$examples/cxx/$base.cc
  [ -f "$example" ] || {
    fail "$base.hpp: no example: write doc/examples/cxx/$base.cc"
    continue
  }
  grep -q "^#include <pems/$base\.hpp>" "$example" ||
    fail "$base.cc: does not include $base.hpp"
  grep -q "(cxx/$base.cc)" "$examples/README.md" || fail "README.md: no $base.cc"
  # shellcheck disable=SC2046 # lists
  $cxx -std=c++20 -Wall -Wextra -Werror -o "$work/$base" "$example" \
    $(pkg-config --cflags --libs pems-em-uninstalled) 2>"$work/err" &&
    echo '3 -1 2.5' | "$work/$base" >"$work/out" 2>"$work/err" || {
    fail "$base.cc: does not compile, or fails"
    cat "$work/err"
  }
  says "$examples/cxx/$base"
done
exit $status
