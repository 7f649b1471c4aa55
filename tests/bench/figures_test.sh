#!/bin/sh
# tests/bench/figures: with a figure that costs nothing: measured, drawn, checked,
# kept, and not replaced by less; a shape that is another is said. And each figure
# says all that it must.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
bench=$top/tests/bench
mkdir -p "$work/figures.d" "$work/out"
cp "$bench/figures" "$work/"
cp "$bench/figures.d/gallery.head" "$work/figures.d/"
cat >"$work/figures.d/square.sh" <<'END'
paper='a book, Fig. 1'
what='Squares'
saw='They grow.'
shape='the last is the greatest'
axes='x;y'
measure() {
  for x in 1 2 $(size 3 4); do echo "square $x $((x * x * ${SIGN:-1}))"; done
}
check_shape() {
  awk '!/^#/ { last = $3; if ($3 > most) most = $3 } END { exit last != most }' "$dat"
}
END

# figures WORD...: what it prints is $work/said.
figures() {
  OUT=$work/out "$work/figures" "$@" >"$work/said" 2>&1
}
says() {
  grep -q -e "$1" "$work/said" || {
    fail "not said: $1"
    cat "$work/said"
  }
}

figures list && says '^square  *a book, Fig. 1'
figures run square || fail "run square"
says 'as it should be: the last is the greatest'
grep -q '^square 3 9$' "$work/out/square.dat" || fail "no data"
grep -q '^load=' "$work/out/square.txt" || fail "no load was recorded"
grep -q '<h2>Squares</h2>\|Older figures' "$work/out/index.html" || fail "no gallery"
if command -v gnuplot >/dev/null; then
  [ -s "$work/out/square.svg" ] || fail "not drawn"
  grep -q 'They grow.' "$work/out/index.html" || fail "the gallery lacks the paper"
fi
figures run square && says 'kept'
FIGURES_SCALE=paper figures run square && says 'as it should be'
grep -q '^square 4 16$' "$work/out/square.dat" || fail "not at the scale of the paper"
figures run square && says 'kept'
grep -q '^square 4 16$' "$work/out/square.dat" || fail "replaced by less"
rm "$work/out"/square.*
SIGN=-1 figures run square && fail "a shape that is another: status 0"
says 'NOT SO: the last is the greatest'
figures check && fail "check: status 0"
FIGURES_SCALE=huge figures list && fail "an unknown scale: status 0"
says 'FIGURES_SCALE: huge: give small or paper'
figures run circle && fail "an unknown figure: status 0"
says 'circle: no such figure'

for figure in "$bench"/figures.d/*.sh; do
  for word in paper= what= saw= shape= axes= 'measure()' 'check_shape()'; do
    grep -q "^$word" "$figure" || fail "$figure: no $word"
  done
  grep -q "figures/$(basename "$figure" .sh)\\( \\|\$\\)" "$top/Makefile.am" ||
    fail "Makefile.am: $figure is not in FIGURES_EACH"
done
exit $status
