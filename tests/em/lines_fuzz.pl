# Random options and inputs: pems-sort, called as sort(1), against that one.
#
#   lines_fuzz.pl COUNT SEED SORT LOCALE...
#
# SORT is a link to pems-sort by a name as "gsort". Inputs are made of few words,
# so that many lines are equal in part; memory is so small that most sorts write
# runs. There are no NaNs: coreutils 9.1 compares them by bytes that are not set.
# Outputs and exit statuses must be those of GNU sort; for -R, which is
# random, lines must be the same and equal keys adjacent. PEMS_COLLATE is a library
# that both are run with (collate.c). Prints the number of comparisons, or the first
# differences and how to repeat them.
use strict;
use warnings;

my ($count, $seed, $pems, @locales) = @ARGV;
srand($seed);
my $failures = 0;
# Coreutils 9.1, alone, takes all of ".A" for a suffix.
my $suffixes = `printf '.A\\n.0\\n' | LC_ALL=C sort -V` eq ".A\n.0\n";

sub pick { return $_[int rand @_]; }

# --- inputs ---

my @words = (
  'a', 'b', 'A', 'B', 'ab', 'aB', 'Ab', 'abc', 'foo', 'Foo', 'foo-bar', 'x.y',
  '0', '1', '2', '10', '010', '-1', '-0', '+5', '1.5', '1.50', '-1.5', '.5',
  '-.5', '1e3', '1E-2', 'inf', '-inf', '0x1f', '1,000', '1000',
  '123456789012345678901234567890', '99999999999999999999', '1K', '2k', '1M',
  '1G', '1023K', '-1K', '1.5T', '0K', '5E', 'JAN', 'feb', 'Mar', 'apr', 'May',
  'december', 'Decx', 'mayo', 'file1.txt', 'file10.txt', 'file2.txt',
  'file1.tar.gz', 'v1.0~rc1', 'v1.0', 'v1.0a', 'a~', '.', '..', '.hidden',
  '..x', 'a.b.c', 'a1b2', 'a01b2', 'a00', '-', '_', '!', '"q"', "\x01", "\x7f",
  "caf\xc3\xa9", "cafe", "\xc3\x89t\xc3\xa9", "\xc3\xa4", "z", "\xe6\x97\xa5",
  "\xff\xfe", "\xc3", 'co-op', 'coop', 'CO-OP', 't\xc3\xb4le', 'tole',
);

sub word {
  my $kind = int rand 12;
  return int(rand 1000) - 200 if $kind == 0;
  return sprintf('%.*f', int(rand 4), rand(200) - 50) if $kind == 1;
  if ($kind == 2) {
    my $any = join '', map { chr(33 + int rand 94) } 1 .. rand 6;
    $any =~ tr/RQrq//d; # units of -h, with -f in lower case, since coreutils 9.2
    return $any;
  }
  return 'common prefix of many lines ' . pick(@words) if $kind == 3;
  return pick(@words);
}

sub line {
  my ($tab, $zero) = @_;
  my @sep = $tab eq '' ? (' ', ' ', "\t", '  ', ' ') : ($tab, $tab, $tab, ' ');
  my $line = rand() < 0.1 ? pick(@sep) : '';
  for my $i (0 .. rand 5) {
    $line .= pick(@sep) if $i > 0;
    $line .= word() if rand() < 0.9;
  }
  $line .= "\n" . pick(@words) if $zero && rand() < 0.2;
  $line .= "\0" . pick(@words) if !$zero && rand() < 0.03;
  $line .= 'x' x (50 + rand 3000) if rand() < 0.01;
  return $line;
}

# Writes a file; returns what is in it.
sub make_file {
  my ($path, $tab, $zero, $most) = @_;
  my $end = $zero ? "\0" : "\n";
  my $n = int exp rand log($most + 1);
  my @lines = map { line($tab, $zero) } 1 .. $n;
  push @lines, map { pick(@lines) } 1 .. $n / 3 if $n;
  my $text = join '', map { $_ . $end } @lines;
  chop $text if $n && rand() < 0.2;
  open my $f, '>:raw', $path or die "$path: $!";
  print $f $text;
  close $f;
}

sub without_points {
  for my $path (@_) {
    my $text = slurp($path);
    $text =~ tr/./+/;
    open my $f, '>:raw', $path or die "$path: $!";
    print $f $text;
    close $f;
  }
}

# --- options ---

sub letters {
  my ($key) = @_;
  my $r = rand;
  my $kind = $r < 0.35 ? '' : pick(qw(n n g h M V V));
  my $text = $kind eq '' || $kind eq 'V' ? pick('', '', '', 'd', 'i') : '';
  my $all = $kind . $text;
  $all .= 'f' if rand() < 0.15;
  $all .= 'r' if rand() < 0.2;
  $all .= 'b' if rand() < 0.2;
  return $all;
}

sub key {
  my $key = 1 + int rand 4;
  $key .= '.' . (1 + int rand 4) if rand() < 0.25;
  my $options = rand() < 0.5 ? letters() : '';
  $key .= $options;
  if (rand() < 0.6) {
    $key .= ',' . (1 + int rand 4);
    $key .= '.' . int rand 5 if rand() < 0.25;
    $key .= 'b' if rand() < 0.1;
  }
  return $key;
}

sub options {
  my ($tab, $zero) = @_;
  my @o;
  push @o, '-t', $tab if $tab ne '';
  push @o, '-z' if $zero;
  push @o, map { ('-k', key()) } 1 .. pick(0, 0, 1, 1, 1, 2, 3);
  my $global = letters();
  push @o, "-$global" if $global ne '' && rand() < 0.5;
  push @o, '-s' if rand() < 0.25;
  push @o, '-u' if rand() < 0.25;
  push @o, '-r' if rand() < 0.1;
  return @o;
}

my @sizes = ('-S1', '-S1', '-S1M', '-S2M', '-S16M');

sub ours {
  my @o = pick(@sizes);
  push @o, '--parallel=' . pick(1, 1, 2, 3);
  push @o, '--batch-size=' . pick(2, 3, 5) if rand() < 0.3;
  push @o, '--compress-program=' . pick('none', @{$ENV{PEMS_CODECS} ?
    [split ' ', $ENV{PEMS_CODECS}] : ['none']}) if rand() < 0.4;
  return @o;
}

# --- comparing ---

sub slurp {
  my ($path) = @_;
  open my $f, '<:raw', $path or die "$path: $!";
  local $/;
  my $text = <$f>;
  return defined $text ? $text : '';
}

# Runs a command with its output in a file; returns the status.
sub run {
  my ($out, $in, @command) = @_;
  my $pid = fork;
  die "fork: $!" unless defined $pid;
  if (!$pid) {
    open STDIN, '<', $in or die "$in: $!";
    open STDOUT, '>', $out or die "$out: $!";
    open STDERR, '>', "$out.err" or die "$out.err: $!";
    $ENV{LD_PRELOAD} = $ENV{PEMS_COLLATE} if $ENV{PEMS_COLLATE};
    exec @command or exit 127;
  }
  waitpid $pid, 0;
  return $? & 127 ? 128 + ($? & 127) : $? >> 8;
}

sub differ {
  my ($number, $why, @command) = @_;
  $failures++;
  return if $failures > 5;
  mkdir "failed"; mkdir "failed/$number";
  system "cp in0 in1 in2 want got failed/$number/ 2>/dev/null";
  print "FAIL $number: $why: LC_ALL=$ENV{LC_ALL} @command\n";
  print '    stderr: ', slurp('got.err');
}

sub once {
  my ($number, $most) = @_;
  $ENV{LC_ALL} = pick(@locales);
  my $tab = pick('', '', ':', ',', "\t", 'a');
  my $zero = rand() < 0.1;
  my @files = map { "in$_" } 0 .. pick(0, 0, 0, 1, 2);
  make_file($_, $tab, $zero, $most) for @files;
  my @o = options($tab, $zero);
  without_points(@files) if $suffixes && grep { /^[^-].*V|^-[^t].*V|^-V/ } @o;
  my $way = pick('sort', 'sort', 'sort', 'sort', 'check', 'merge');
  my @in = @files;
  if ($way eq 'check') {
    @in = ($files[0]);
    if (rand() < 0.7) {
      run('sorted', '/dev/null', 'sort', @o, @in);
      rename 'sorted', $in[0];
    }
    push @o, pick('-c', '-C');
  } elsif ($way eq 'merge') {
    for my $file (@in) {
      run('sorted', '/dev/null', 'sort', @o, $file);
      rename 'sorted', $file;
    }
    push @o, '-m';
  } elsif (rand() < 0.2) {
    $in[0] = '-';
  }
  my $want = run('want', $files[0], 'sort', @o, @in);
  my @ours = ours();
  my $got = run('got', $files[0], $pems, @ours, @o, @in);
  if ($want != $got) {
    differ($number, "status $got, not $want", @ours, @o, @in);
  } elsif (slurp('want') ne slurp('got')) {
    differ($number, 'the output differs', @ours, @o, @in);
  } elsif ($way eq 'check' && $want == 1 && slurp('want.err') ne '') {
    my ($x, $y) = (slurp('want.err'), slurp('got.err'));
    s/^[^:]*: ([^:]*:[^:]*: )[^:]*: /$1/ for $x, $y; # a word in any language
    differ($number, "the message is $y, not $x", @o, @in) if $x ne $y;
  }
}

for my $number (1 .. $count) {
  once($number, $number % 20 ? 300 : 40000);
}
print "$count comparisons, $failures failures (seed $seed)\n";
exit($failures ? 1 : 0);
