#!/bin/sh
# doc/examples: one for each public header, which compiles as strict C, and prints
# what the file beside it has.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need pkg-config
built=${top_builddir:-$top/build}
PKG_CONFIG_PATH=$built/wrappers
export PKG_CONFIG_PATH
examples=$top/doc/examples

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
  [ -s "$examples/$base.out" ] || fail "$base: no $base.out"
  awk '{ sub(/ *$/, ""); print }' "$work/out" >"$work/said"
  cmp -s "$work/said" "$examples/$base.out" || {
    fail "$base.c: prints something else"
    diff "$work/said" "$examples/$base.out"
  }
done
exit $status
