#!/bin/sh
# A report says what ran, pemsinfo whether this machine has it still, and names
# what differs. With contexts of one size a rank has the same addresses in each run.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"

cat >"$work/where.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: %p %p %p\n", rank, malloc(100), malloc(1 << 20), (void *)&rank);
  MPI_Finalize();
  return VALUE;
}
END
# make_program VALUE: the program, another one for each value.
make_program() {
  pemscc -DVALUE="$1" -o "$work/where" "$work/where.c" ||
    fail "where.c does not compile"
}

make_program 0
# A report is not written through links that lie in the way.
mkdir "$work/report"
echo precious >"$work/victim"
ln -s ../victim "$work/report/identity.txt"
for run in 1 2; do
  limited pemsrun -n 5 --pems-context=64M --pems-report="$work/report" \
    "$work/where" >"$work/out" ||
    fail "the job failed"
  sort "$work/out" >"$work/out$run"
done
[ "$(wc -l <"$work/out1")" -eq 5 ] || fail "not 5 lines"
cmp -s "$work/out1" "$work/out2" || {
  diff "$work/out1" "$work/out2"
  fail "other addresses in the second run"
}

identity=$work/report/identity.txt
grep -q '^precious$' "$work/victim" || fail "written through a link"
modes=$(stat -c %a "$identity" "$work/report/index.html" | sort -u)
[ "$(echo "$modes" | wc -l)" -eq 1 ] || fail "modes differ: $modes"
grep -q "^file [0-9a-f]* $work/where\$" "$identity" || fail "no line of where"
grep -q '^file [0-9a-f]* /.*/libc.so' "$identity" || fail "no line of libc"
pemsinfo --identity="$identity" >"$work/out" || fail "not the same as it was"
grep -Eq '^the same: [0-9]+ files, glibc 2' "$work/out" || fail "$(cat "$work/out")"

# differs PATTERN [FILE]: one line, and status 1; or 2 if the file is no good.
differs() {
  wanted=${3:-1}
  pemsinfo --identity="${2:-$identity}" >"$work/out" 2>"$work/err"
  status=$?
  [ $status -eq "$wanted" ] || fail "$1: status $status"
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$1: not one line"
  grep -q "^pems: --identity: $1" "$work/err" || fail "$1: $(cat "$work/err")"
  [ ! -s "$work/out" ] || fail "$1: output"
}

sed 's/^libc .*/libc glibc 2.1/' "$identity" >"$work/changed"
differs 'another C library: it was glibc 2.1, and is glibc' "$work/changed"
sed 's/^processor .*/processor z80/' "$identity" >"$work/changed"
differs 'another processor: it was z80' "$work/changed"
echo 'something else' >"$work/changed"
differs "$work/changed: line 1: " "$work/changed" 2
differs "$work/none: No such file" "$work/none" 2
# Another constant, so other code.
make_program 3
differs "another version of a file: $work/where: it was"
rm "$work/where"
differs "cannot read .*: $work/where"
conclude
