#!/bin/sh
# The programs on streams, apps/: suffix arrays against sorting suffixes in
# memory, for small strings of all kinds, and against the checker for real text
# that is larger than the memory; the checker against wrong arrays; the Diamond
# against its reference; shuffle and checksum.
# shellcheck source=tests/em/apps_lib.sh
. "$(dirname "$0")/apps_lib.sh"

# --- small strings -----------------------------------------------------------

# naive TEXT: the array, to stdout.
naive() {
  # shellcheck disable=SC2016 # this is Perl
  "$perl" -e '
    undef $/;
    $_ = <STDIN>;
    $_ = "" unless defined;
    my $t = $_;
    binmode STDOUT;
    print pack "LC", $_, 0
      for sort { substr($t, $a) cmp substr($t, $b) } 0 .. length($t) - 1;
  ' <"$1"
}

# sorted TEXT OPTION...: every option list is a word.
sorted() {
  text=$1
  shift
  naive "$text" >"$work/wanted"
  for options in "$@"; do
    # shellcheck disable=SC2086 # options are words
    try "$(basename "$text"): $options" "$apps/suffix_array" $options \
      --memory 4M --threads 2 --io mem --disk "$work/disk" "$text" "$work/array"
    cmp -s "$work/array" "$work/wanted" ||
      fail "$(basename "$text"): $options: wrong"
  done
}

# Strings of one kind each, in $work/text.
mkdir "$work/text" "$work/random"
# shellcheck disable=SC2016
"$perl" -e '
  my ($directory, $random) = @ARGV;
  sub put { my ($name, $text) = @_; open my $f, ">", $name or die; binmode $f;
            print $f $text; close $f; }
  my ($x, $y) = ("b", "a");
  ($x, $y) = ($y, $y . $x) for 1 .. 14;
  put("$directory/empty", "");
  put("$directory/one", "x");
  put("$directory/zero", "\0");
  put("$directory/equal", "a" x 1000);
  put("$directory/zeros", "\0" x 301);
  put("$directory/fibonacci", $y);
  put("$directory/periodic", "abcab" x 200);
  put("$directory/square", "\377\0\1" x 99 . "\377\0\1" x 99);
  put("$directory/descending", join "", map { chr } reverse 0 .. 255);
  srand 5;
  put("$directory/binary", join "", map { chr int rand 256 } 1 .. 3000);
  put("$directory/bits", join "", map { chr int rand 2 } 1 .. 3001);
  put("$random/$_", join "", map { chr int rand 2 + $_ % 2 } 1 .. 1 + $_ / 4)
    for 1 .. 40;
' "$work/text" "$work/random"
for text in "$work"/text/*; do
  sorted "$text" "--algorithm doubling" "--algorithm quadrupling" \
    "--algorithm dc3" "--base 0" "--base 0 --async all" \
    "--base 0 --bits 40" "--algorithm doubling --bits 40 --async all" \
    "--algorithm quadrupling --bits 32"
  try "$text: check" "$apps/suffix_check" --bits 40 "$text" "$work/array"
done
for text in "$work"/random/*; do
  sorted "$text" "--base 0" "--algorithm doubling"
done

# --- wrong arrays ------------------------------------------------------------

text=$work/text/binary
naive "$text" >"$work/right"
# wrong WHAT PATTERN PERL: changes the positions @p.
wrong() {
  # shellcheck disable=SC2016
  "$perl" -e '
    binmode STDIN; binmode STDOUT; undef $/;
    my @p = map { (unpack "LC")[0] } unpack "(a5)*", <STDIN>;
    eval shift; die $@ if $@;
    print pack "LC", $_, 0 for @p;
  ' "$3" <"$work/right" >"$work/wrong"
  refuse "$1" "$2" "$apps/suffix_check" "$text" "$work/wrong"
}
try "right array" "$apps/suffix_check" "$text" "$work/right"
# shellcheck disable=SC2016
{
  wrong "two swapped" "rank" '@p[7, 8] = @p[8, 7]'
  wrong "the last two swapped" "rank" '@p[-1, -2] = @p[-2, -1]'
  wrong "far ones swapped" "rank" '@p[0, 2000] = @p[2000, 0]'
  wrong "one twice" "another twice" '$p[99] = $p[100]'
  wrong "behind the end" "behind" '$p[5] = 3000'
  wrong "truncated" "not 5 per byte" 'pop @p'
  wrong "one too many" "not 5 per byte" 'push @p, 0'
  wrong "reversed" "rank" '@p = reverse @p'
}
head -c 14999 "$work/right" >"$work/wrong"
refuse "a byte too few" "not 5 per byte" \
  "$apps/suffix_check" "$text" "$work/wrong"
printf 'ab' >"$work/ab"
printf '\1\0\0\0\0\0\0\0\0\0' >"$work/wrong"
refuse "ab" "rank" "$apps/suffix_check" "$work/ab" "$work/wrong"

# --- real text, more than the memory ------------------------------------------

find /usr/include /usr/share/doc /usr/share/man -type f 2>/dev/null | sort |
  xargs cat 2>/dev/null | head -c 3998400 >"$work/real"
[ "$(wc -c <"$work/real")" -eq 3998400 ] ||
  cat "$apps"/* | head -c 3998400 >"$work/real"
for algorithm in doubling quadrupling dc3; do
  for async in none all; do
    try "real text, $algorithm, $async" "$apps/suffix_array" \
      --algorithm $algorithm --async $async --memory 12M \
      --disk "$work/disk" --check "$work/real" "$work/array"
    at_least runs 3
    at_least rounds 2
    cmp -s "$work/array" "$work/before" || [ ! -e "$work/before" ] ||
      fail "real text, $algorithm, $async: another array"
    mv "$work/array" "$work/before"
  done
done

# A text that is not there, a scratch that cannot be, and options.
array="$apps/suffix_array"
refuse "no text" "cannot read" "$array" "$work/nothing" "$work/array"
refuse "no disk" "$work/nothing" \
  "$array" --disk "$work/nothing/at/all" "$work/real" "$work/array"
refuse "no directory" "No such" "$array" "$work/real" "$work/nothing/array"
refuse "no memory" "memory" "$array" --memory 64K "$work/real" "$work/array"
refuse "too long" "dc3" \
  "$array" --algorithm quadrupling --bits 33 "$work/ab" "$work/array"
refuse "no algorithm" "see --help" \
  "$array" --algorithm magic "$work/ab" "$work/array"
[ ! -e "$work/array" ] ||
  fail "an array was left where there is none"

# --- the Diamond --------------------------------------------------------------

for async in none some all; do
  try "diamond, $async" "$apps/diamond" --async $async --n 1000000 \
    --memory 8M --disk "$work/disk" --verify --dot "$work/dot" \
    --out "$work/couples"
  at_least bytes_written 60000000
  [ "$(value phases)" = 3 ] || fail "diamond, $async: not 3 phases"
  [ "$(wc -c <"$work/couples")" -eq 32000000 ] ||
    fail "diamond, $async: wrong size"
  grep -q '^digraph' "$work/dot" || fail "diamond, $async: not drawn"
done
head -c 1600000 "$work/real" >"$work/pairs"
try "diamond of a file" "$apps/diamond" --verify --memory 8M "$work/pairs"
: >"$work/empty"
try "diamond of nothing" "$apps/diamond" --verify "$work/empty"
head -c 17 "$work/real" >"$work/pairs"
for number in ' 5' -5 ' -5' +5 '' 5x; do
  refuse "--n '$number'" "n: $number: give a number" "$apps/diamond" \
    --n "$number"
done
refuse "diamond of 17 bytes" "multiple" "$apps/diamond" "$work/pairs"

# --- shuffle and checksum -----------------------------------------------------

# sums FILE SIZE: $sum and $chain.
sums() {
  try "checksum" "$apps/checksum" --record "$2" "$1"
  sum=$(value sum)
  chain=$(value chain)
}
for size in 1 3 8 100; do
  sums "$work/real" $size
  before=$sum/$chain
  try "shuffle $size" "$apps/shuffle" --record $size --memory 8M \
    --disk "$work/disk" "$work/real" "$work/shuffled"
  sums "$work/shuffled" $size
  [ "$sum" = "${before%/*}" ] || fail "shuffle $size: other records"
  [ "$chain" != "${before#*/}" ] || fail "shuffle $size: the same order"
  first=$chain
  try "shuffle $size again" "$apps/shuffle" --record $size --memory 64M \
    "$work/real" "$work/shuffled"
  sums "$work/shuffled" $size
  [ "$chain" = "$first" ] || fail "shuffle $size: the seed gives another order"
  try "shuffle $size, other seed" "$apps/shuffle" --record $size --seed 2 \
    "$work/real" "$work/shuffled"
  sums "$work/shuffled" $size
  [ "$chain" != "$first" ] || fail "shuffle $size: another seed, no other order"
done
cp "$work/real" "$work/same"
try "shuffle in place" "$apps/shuffle" --record 8 "$work/same" "$work/same"
try "shuffle beside" "$apps/shuffle" --record 8 "$work/real" "$work/shuffled"
cmp -s "$work/same" "$work/shuffled" || fail "shuffle in place: another order"
refuse "shuffle, half a record" "multiple" \
  "$apps/shuffle" --record 4001 "$work/real" "$work/shuffled"

# All orders of three records come up, and numbers end up anywhere: of those
# from the first half, half, within five standard deviations.
printf 'abc' >"$work/three"
for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 \
  26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do
  "$apps/shuffle" --threads 2 --io mem --record 1 --seed $seed "$work/three" "$work/order" \
    >/dev/null
  cat "$work/order"
  echo
done >"$work/orders"
[ "$(sort -u "$work/orders" | wc -l)" -eq 6 ] ||
  fail "shuffle: not all orders of three"
# shellcheck disable=SC2016
{
  "$perl" -e 'print pack "L*", 0 .. 99999' >"$work/numbers"
  try "shuffle numbers" "$apps/shuffle" --record 4 "$work/numbers" \
    "$work/shuffled"
  "$perl" -e '
    undef $/; my @p = unpack "L*", <STDIN>;
    my $stay = grep { $_ < 50000 } @p[0 .. 49999];
    my $fixed = grep { $p[$_] == $_ } 0 .. $#p;
    exit !(abs($stay - 25000) < 5 * 80 && $fixed < 12);
  ' <"$work/shuffled" || fail "shuffle: not random"
}

# --- out of core --------------------------------------------------------------

cgroup="${SHELL:-sh} $top/tests/bench/cgroup.sh"
# shellcheck disable=SC2086
$cgroup 64M true 2>"$work/err"
if [ $? -eq 77 ]; then
  echo "SKIP out of core: $(cat "$work/err")"
else
  cat "$work/real" "$work/real" "$work/shuffled" "$work/real" >"$work/long"
  # shellcheck disable=SC2086
  try "out of core" $cgroup 32M "$apps/suffix_array" --memory 16M \
    --disk "$work/disk" --check "$work/long" "$work/array"
  at_least runs 5
  grep -q 'oom_kills=0' "$work/err" || fail "out of core: killed"
fi

[ $status -ne 0 ] || echo "PASS"
exit $status
