#!/bin/sh
# The page of a report, index.html: what a job leaves is one file that needs no
# other; it names places of the program, and who waited. Where a browser is
# installed, it draws the page, light and dark, wide and narrow, and 10^5 states in
# less than 2 s; the pictures are beside the test's log.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >"$work/late.c" <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, rounds = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char *memory = malloc(4 << 20);
  memset(memory, rank, 4 << 20);
  if (rank == 3 && rounds == 1) {
    sleep(2);
  }
  for (int i = 0; i < rounds; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int wrong = memory[rank] != rank;
  MPI_Finalize();
  return wrong;
}
END
pemscc -g -o "$work/late" "$work/late.c" || fail "late.c does not compile"

# report NAME RANKS ROUNDS: a job, and the data of its page in data.json.
report() {
  pemsrun -n "$2" --pems-k=2 --pems-report="$work/$1" "$work/late" "$3" ||
    fail "$1: the job failed"
  page=$work/$1/index.html
  [ -s "$page" ] || fail "$1: no index.html"
  sed -n '/id="data">/,/<\/script>/p' "$page" | sed '1d;$d' >"$work/$1.json"
}

line=$(grep -n MPI_Barrier "$work/late.c" | cut -d: -f1)
report small 8 1
if command -v addr2line >/dev/null; then
  grep -q "\"MPI_Barrier\",\"late.c:$line\",8," "$work/small.json" ||
    fail "the place of MPI_Barrier is not in the page"
fi
# Ranks waited for rank 3, which came last.
awk '$2 == 3 && $4 > 0.5 { found = 1 } END { exit !found }' \
  "$work/small/waits.0.dat" || fail "no rank waited for rank 3"
awk '/^[0-9]/ && $2 > most { most = $2 } END { exit most < 8 * 4194304 }' \
  "$work/small/resident.0.dat" || fail "the memory of contexts is missing"
grep -q 'All contexts stayed in memory' "$work/small/summary.txt" ||
  fail "no advice in summary.txt"
[ "$(grep -c '<script' "$work/small/index.html")" -eq 2 ] ||
  fail "not two scripts"
# What it takes of the memory is told by it, by the plan, and counted.
grep -q '^  report takes up to *3[0-9]\.[0-9] MiB$' "$work/small/summary.txt" &&
  grep -q '"report takes up to","3[0-9]\.[0-9] MiB"' "$work/small.json" ||
  fail "it does not say what the report takes: $(head -9 "$work/small/summary.txt")"
pemsinfo -n 8 --pems-report="$work/small" |
  grep -q '^report  *3[0-9]\.[0-9] MiB .* --pems-report' ||
  fail "the plan does not say what a report takes"
if grep -E '(src|href)=|@import|url\(|fetch\(' "$work/small/index.html"; then
  fail "the page needs another file"
fi

report large 8 4500
states=$(grep -c '^[0-9]' "$work/large/states.0.dat")
[ "$states" -gt 100000 ] || fail "only $states states: too few for this test"
[ "$(wc -c <"$work/large/index.html")" -lt 6000000 ] || fail "the page is large"

browser=
for name in chromium chromium-browser google-chrome; do
  [ -n "$browser" ] || browser=$(command -v $name)
done
if [ -z "$browser" ]; then
  echo "no chromium: that the pages are drawn was not tested"
  exit $status
fi
browse() {
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu \
    --hide-scrollbars --user-data-dir="$work/chrome" "$@" 2>"$work/chrome.log"
}
# draws NAME LIMIT_MS: nothing stopped the script, and it took so long.
draws() {
  browse --dump-dom "file://$work/$1/index.html" >"$work/$1.dom"
  ms=$(sed -n 's/.*data-drawn="\([0-9]*\)".*/\1/p' "$work/$1.dom" | head -n 1)
  [ -n "$ms" ] || fail "$1: not drawn"
  echo "$1: drawn after ${ms:-?} ms"
  [ "${ms:-0}" -lt "$2" ] || fail "$1: took $ms ms, more than $2"
  for id in times bytes memory disks; do
    grep -q "<svg id=\"$id\" viewBox" "$work/$1.dom" || fail "$1: no chart $id"
  done
  grep -q '<li>' "$work/$1.dom" || fail "$1: no advice"
}
draws small 20000
draws large $((2000 * ${PEMS_TEST_PATIENCE:-1}))
pictures=$top_builddir/tests/wrappers/report
mkdir -p "$pictures"
for size in 1200,2200 420,4200; do
  for dark in '' --blink-settings=preferredColorScheme=0; do
    picture=$pictures/${size%,*}${dark:+-dark}.png
    # shellcheck disable=SC2086 # empty, or one word
    browse $dark --window-size=$size --screenshot="$picture" \
      "file://$work/small/index.html"
    [ "$(wc -c <"$picture")" -gt 20000 ] || fail "$picture: nothing in it"
  done
done
if cmp -s "$pictures/1200.png" "$pictures/1200-dark.png"; then
  fail "dark is as light"
fi
exit $status
