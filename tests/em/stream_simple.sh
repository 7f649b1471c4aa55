#!/bin/sh
# The example of streams does what it says, and leaves nothing when it cannot.
set -eu
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/pems-simple-XXXXXX")
trap 'rm -rf "$dir"' EXIT
app=./apps/stream_simple

perl -e 'srand 1; print pack "Q", int rand 2**40 for 1 .. 200000' >"$dir/in"
$app "$dir/in" "$dir/out" >"$dir/said"
perl -e '
  sub all { local $/; open my $f, "<", $_[0] or die; unpack "Q*", <$f> }
  my @in = all("$ARGV[0]/in");
  my @out = all("$ARGV[0]/out");
  my $sum = 0;
  $sum += $_ for @in;
  print "checksum $sum\n";
  @in = sort { $a <=> $b } map { 2 * $_ } @in;
  "@in" eq "@out" or die "the numbers are not the doubled ones in order\n"
' "$dir" | cmp - "$dir/said"

printf 1234567 >"$dir/in"
rm "$dir/out"
if $app "$dir/in" "$dir/out" 2>"$dir/said"; then
  echo "7 bytes were taken for 64-bit numbers"
  exit 1
fi
grep -q 'stream node in: .*7 bytes' "$dir/said"
[ ! -e "$dir/out" ]
