#!/bin/sh
# The external-memory library in other programs: in the ranks of an MPI program
# on pems, and in C and C++ programs without MPI, by pkg-config.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/../wrappers/lib.sh"
cc=${REAL_CC:-cc}
PKG_CONFIG_PATH=${top_builddir:-.}/wrappers
export PKG_CONFIG_PATH

pemscc -O2 -o ranks "$here/tests/em/ranks.c" >log 2>&1 || {
  cat log
  exit 1
}
n=6
for i in $(seq 0 $((n - 1))); do
  echo "rank $i: turned in order by runs"
done >wanted
echo "same records" >>wanted

# compare OPTIONS...: the output but for the numbers.
compare() {
  limited pemsrun -n $n "$@" ./ranks >raw 2>err
  status=$?
  sed 's/, least.*//' raw | sort >got
  sed 's/.*least//' raw | sort >least
  if [ $status -ne 0 ] || ! sort wanted | cmp -s - got; then
    cp raw out
    fail "$*: exit status $status"
  elif [ -e first ] && ! cmp -s first least; then
    fail "$*: other records than before"
  fi
  [ -e first ] || cp least first
}

compare
compare --pems-k=1
compare --pems-k=2 --pems-io=mem --pems-procs=2
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS
compare
compare --pems-k=1 --pems-track=fault
compare --pems-swapin=lazy
unset PEMS_TEST_EVICT_ALWAYS

cat >plain.c <<'END'
#include <pems/sort.h>
#include <stdio.h>

int main(void) {
  struct pems_sort_options o = {0};
  struct pems_sorter *s;
  struct pems_error e;
  const double x[] = {2.5, -1, 7, -0.0, 0.0};
  o.record.size = sizeof *x;
  o.record.key = PEMS_KEY_F64;
  o.memory = 1 << 20;
  if (pems_sorter_new(&s, &o, &e) || pems_sorter_push(s, x, 5, &e) ||
      pems_sorter_finish(s, &e)) {
    puts(e.text);
    return 1;
  }
  for (const double *d; (d = (const double *)pems_sorter_next(s, &e));)
    printf("%g ", *d);
  pems_sorter_free(s);
  return 0;
}
END
cp plain.c plain.cpp
# plain MODULE COMPILER...
plain() {
  flags=$(pkg-config --cflags --libs "$1-uninstalled") ||
    skip "pkg-config does not find $1"
  shift
  # shellcheck disable=SC2086 # a list
  "$@" $flags -o plain >log 2>&1 || {
    cp log out
    fail "$*: does not compile"
  }
  expect "$*" 0 '^-1 -0 0 2.5 7 $' -- ./plain
}
for module in pems-em pems; do
  # shellcheck disable=SC2086 # a list
  plain $module $cc -std=c99 plain.c
  if command -v g++ >/dev/null; then
    plain $module g++ -std=c++11 plain.cpp
  fi
done

conclude
