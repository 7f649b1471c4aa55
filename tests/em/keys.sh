#!/bin/sh
# pems-sort with several keys of binary records: random keys, of all types, against
# the same order in Perl. PEMS_TEST_LONG=1: 10^4 runs instead of 40.
# shellcheck source=tests/em/lib.sh
. "$(dirname "$0")/lib.sh"
command -v perl >/dev/null || {
  echo "SKIP $name: no perl"
  exit 77
}
runs=40
[ -z "${PEMS_TEST_LONG:-}" ] || runs=10000
seed=${SEED:-1}
QUIET=1

i=0
while [ $i -lt $runs ]; do
  i=$((i + 1))
  options=$(perl "$top/tests/em/keys.pl" $((seed * 100000 + i)) input wanted) || {
    fault "run $i: keys.pl"
    break
  }
  # shellcheck disable=SC2086 # options are words
  try pems-sort --stable --memory 4M --disk "$disk" $options input out/result
  if [ $status -eq 0 ] && cmp -s out/result wanted; then
    clean "run $i" && pass "run $i"
  else
    fault "run $i: status $status: pems-sort --stable $options"
  fi
  rm -f out/result
done

# More than fit in memory, checked by itself, too.
perl -e 'srand(3); binmode STDOUT; print pack("Vs<a6", rand(50), rand(200) - 100,
  pack("N", rand(2**32))) for 1 .. 700000' >input
try pems-sort --memory 4M --threads 1 --disk "$disk" --record 12 --key u32:desc \
  --key 4:i16 --key 6:6 --verify input out/result
[ $status -eq 0 ] || fault "large: status $status"
perl -e 'local $/ = \12; my $last; binmode STDIN; while (<STDIN>) {
  my ($x, $y, $z) = unpack("Vs<a6"); my $key = pack("NNa6", ~$x & 0xffffffff, $y + 1000, $z);
  exit 1 if defined $last && $last gt $key; $last = $key; } exit !defined $last' \
  <out/result && passed=$((passed + 1)) || fault "large: not in order"
try pems-sort --record 12 --key u32:desc --key 4:i16 --key 6:6 --check out/result
[ $status -eq 0 ] || fault "large: --check: status $status"
try pems-sort --record 12 --key 4:i16 --key u32 --check out/result
[ $status -eq 1 ] || fault "large: --check by other keys: status $status"
conclude
