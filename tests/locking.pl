#!/usr/bin/env perl
# locking.pl FILE...: of each function that calls one whose name ends in _locked,
# and whose own name does not, that neither it takes a lock before nor what it
# calls does and leaves it held: "FILE: FUNCTION: calls NAME". Functions named
# unlock_* or *_unlock release their caller's lock.
use strict;
use warnings;

my (%body, %takes);
for my $file (@ARGV) {
  open(my $in, '<', $file) or die "$file: $!\n";
  local $/;
  my $text = <$in>;
  while ($text =~ /^(?!#)(\w[\w\s*]*?)\b(\w+)\(([^;{}]*?)\) \{\n(.*?)^\}/gms) {
    my ($type, $name, $body) = ($1, $2, $4);
    $body{$file}{$name} = $body;
    my $taken = () = $body =~ /\b(?:lock_take|run_queue_lock|lock)\(/g;
    my $given = () = $body =~ /\b(?:lock_give|run_queue_unlock|unlock)\(/g;
    next if $taken <= $given;
    $takes{$type =~ /\bstatic\b/ ? $file : ''}{$name} = 1;
  }
}
for my $file (sort keys %body) {
  for my $name (sort keys %{$body{$file}}) {
    next if $name =~ /_locked$|^unlock_|_unlock$/;
    my $held = 0;
    while ($body{$file}{$name} =~ /\b(\w+)\(/g) {
      my $call = $1;
      $held ||= $call =~ /^(?:lock_take|run_queue_lock|lock)$/ ||
        $takes{$file}{$call} || $takes{''}{$call};
      next if $held || $call !~ /_locked$/;
      print "$file: $name: calls $call\n";
      last;
    }
  }
}
