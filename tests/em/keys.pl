#!/usr/bin/perl
# keys.pl SEED INPUT WANTED: writes random records, and the same sorted stably by
# random keys; prints the options of pems-sort for that order.
use strict;
use warnings;

my ($seed, $input, $wanted) = @ARGV;
srand($seed);
my $size = 8 + int rand 40;
my %bytes = (u8 => 1, u16 => 2, u32 => 4, u64 => 8, u128 => 16, i8 => 1, i16 => 2,
  i32 => 4, i64 => 8, f32 => 4, f64 => 8);

# A string that compares as the number of these bytes (of a little-endian machine).
sub ordered {
  my ($type, $bytes) = @_;
  return $bytes if $type eq 'bytes';
  my $big = reverse $bytes;
  my $is_negative = ord($big) & 0x80;
  return $big if $type =~ /^u/;
  substr($big, 0, 1) = chr(ord($big) ^ 0x80) if $type =~ /^i/ || !$is_negative;
  return $type =~ /^f/ && $is_negative ? ~$big : $big;
}

my (@keys, $options);
for (1 .. 1 + int rand 4) {
  my $type = (sort keys %bytes, 'bytes')[rand 12];
  my $n = $bytes{$type} // 1 + int rand 6;
  next if $n > $size;
  my $offset = int rand($size - $n + 1);
  my $down = int rand 2;
  push @keys, [$type, $offset, $n, $down];
  my $text = $type eq 'bytes' ? "$offset:$n"
    : rand() < 0.3 ? "$offset:$n:$type" : "$offset:$type";
  $options .= " --key $text" . ($down ? ':desc' : '');
}
if (!@keys) {
  @keys = (['bytes', 0, 1, 0]);
  $options = ' --key 0:1';
}
my $reverse = rand() < 0.3;

# Few values, so that the first keys are often equal.
my @records = map { join '', map { chr((0, 1, 0x7f, 0x80, 0xff)[rand 5]) } 1 .. $size }
  1 .. rand 3000;
my @sorted = map { $_->[0] } sort {
  my $order = 0;
  for my $i (0 .. $#keys) {
    $order = $a->[1][$i] cmp $b->[1][$i] or next;
    $order = -$order if $keys[$i][3];
    last;
  }
  ($reverse ? -$order : $order) || $a->[2] <=> $b->[2]
} map {
  my $r = $records[$_];
  [$r, [map { ordered($_->[0], substr($r, $_->[1], $_->[2])) } @keys], $_]
} 0 .. $#records;

for ([$input, \@records], [$wanted, \@sorted]) {
  open my $file, '>:raw', $_->[0] or die "$_->[0]: $!";
  print $file @{$_->[1]};
  close $file or die "$_->[0]: $!";
}
print "--record $size$options", ($reverse ? ' --reverse' : ''), "\n";
