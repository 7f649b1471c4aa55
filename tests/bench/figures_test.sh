#!/bin/sh
# tests/bench/figures: with a figure that costs nothing: measured, drawn, checked,
# kept, and not replaced by less; a shape that is another is said. And each figure
# says all that it must, and each number of the papers has one.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
bench=$top/tests/bench
mkdir -p "$work/figures.d" "$work/out"
cp "$bench/figures" "$bench/figures_measure.sh" "$bench/figures_draw.sh" "$work/"
cp "$bench/figures.d/gallery.head" "$work/figures.d/"
echo 'measured 2009, Table 7 and Fig. 1 to 2' >"$work/figures.d/papers"
cat >"$work/figures.d/square.sh" <<'END'
paper='2009, Fig. 1 (in section 3)'
what='Squares'
saw='They grow.'
why='Ours are < theirs.'
shape='the last is the greatest'
axes='x;y'
measure() {
  for x in 1 2 $(size 3 4); do echo "square $x $((x * x * ${SIGN:-1}))"; done
}
check_shape() {
  awk '!/^#/ { last = $3; if ($3 > most) most = $3 } END { exit last != most }' "$dat"
}
END

# What else this machine does is of no matter.
BUSY=0
export BUSY
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

# What takes words and panels: a figure of bars, and one that nothing can measure.
cat >"$work/figures.d/bars.sh" <<'END'
paper='2009, Table 7'
what='Bars'
saw='Two.'
shape='there are two panels'
why='Nothing.'
axes='word;y;panels stacked'
measure() {
  note 'no third panel'
  start=1000 before=x machine=y # measured by the driver, too
  for panel in one two; do
    for word in a-b c; do
      printf '%s %s %s\n' $panel/good $word 1 $panel/bad $word 2
    done
  done
}
see() { echo 'two of them'; }
check_shape() {
  [ "$(awk -F/ '!/^#/ { print $1 }' "$dat" | sort -u | wc -l)" -eq 2 ]
}
END
cat >"$work/figures.d/never.sh" <<'END'
paper='2009, section 9'
what='Never'
saw='Nothing.'
shape='none'
why='Never.'
axes='x;y'
needs() { echo 'MOON=full'; }
measure() { false; }
check_shape() { false; }
END

figures list && says '^square  *2009, Fig. 1'
figures numbers
says '^2009 Fig. 1: square $'
says '^2009 Fig. 2: MISSING$'
says '^2009 Table 7: bars $'
[ "$(wc -l <"$work/said")" -eq 3 ] || fail "numbers: other lines"
figures run square || fail "run square"
says 'as it should be: the last is the greatest'
grep -q '^square 3 9$' "$work/out/square.dat" || fail "no data"
for key in load others loaded; do
  grep -q "^$key=." "$work/out/square.txt" || fail "no $key was recorded"
done
grep -q '^we_see=square 1 at 1, 9 at 3$' "$work/out/square.txt" ||
  fail "it does not say what is seen: $(grep we_see "$work/out/square.txt")"
grep -q '<h2>Squares</h2>\|Older figures' "$work/out/index.html" || fail "no gallery"
figures run bars || fail "run bars"
[ "$(sed -n 's/^seconds=//p' "$work/out/bars.txt")" -lt 1000 ] 2>/dev/null ||
  fail "bars: not the seconds: $(grep seconds "$work/out/bars.txt")"
figures run never || fail "run never"
says 'never: not measured: needs MOON=full'
if command -v gnuplot >/dev/null; then
  for each in square bars; do
    [ -s "$work/out/$each.svg" ] || fail "$each: not drawn"
  done
  # The load is in the drawing; both panels, and both words below bars.
  for text in 'scale small, load [0-9.]* to [0-9.]* on [0-9]* core' '>Squares'; do
    grep -q "$text" "$work/out/square.svg" || fail "square.svg: no $text"
  done
  for text in one two good bad a-b c; do
    grep -q ">$text<" "$work/out/bars.svg" || fail "bars.svg: no $text"
  done
  for text in 'They grow.' 'Ours are &lt; theirs.' 'square 1 at 1' 'two of them' \
    'no third panel' '<b>holds</b>'; do
    grep -q "$text" "$work/out/index.html" || fail "the gallery lacks: $text"
  done
fi
figures run square && says 'kept'
rm -f "$work/out/square.gp"
figures draw square || fail "draw square"
[ -s "$work/out/square.gp" ] || fail "draw wrote nothing"
# What was measured on a quiet machine is not replaced on a busy one.
sed -i 's/^loaded=.*/loaded=no/' "$work/out/square.txt"
FORCE=1 BUSY=1.5 figures run square && says 'quieter machine or at the greater'
FORCE=1 figures run square && says 'as it should be'
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
  for word in paper= what= saw= shape= why= axes= 'measure()' 'check_shape()'; do
    grep -q "^$word" "$figure" || fail "$figure: no $word"
  done
  grep -q "figures/$(basename "$figure" .sh)\\( \\|\$\\)" "$top/Makefile.am" ||
    fail "Makefile.am: $figure is not in FIGURES_EACH"
done
OUT=$work/out "$bench/figures" numbers >"$work/said"
[ "$(wc -l <"$work/said")" -ge 50 ] || fail "few numbers of the papers"
! grep MISSING "$work/said" || fail "figures.d lacks figures of the papers"
exit $status
