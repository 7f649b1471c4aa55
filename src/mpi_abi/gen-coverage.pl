#!/usr/bin/perl
# Writes doc/mpi-coverage.md: what becomes of each MPI function with each MPI that
# pems was built for. The column of this build's MPI is written anew, the others
# are taken from DOCUMENT, which may be missing.
#
#   gen-coverage.pl --macros=FILE --tests=DIR DOCUMENT <FATES >NEW
#
# FATES      what gen-mpi.pl prints: a function and its fate in each line
# --macros   output of `$(CC) -E -dM` for a file that includes mpi.h, which says
#            what the MPI is
# --tests    the folder of the programs that call the functions
use strict;
use warnings;

my ($macros_file, $tests_dir, $document);
for (@ARGV) {
    if    (/^--macros=(.+)/)   { $macros_file = $1 }
    elsif (/^--tests=(.+)/)    { $tests_dir   = $1 }
    elsif (!defined $document) { $document    = $_ }
    else                       { die "gen-coverage.pl: $_: unexpected argument\n" }
}
die "usage: gen-coverage.pl --macros=FILE --tests=DIR DOCUMENT <FATES\n"
  unless defined $macros_file && defined $tests_dir && defined $document;

my $mpi  = name_of_mpi($macros_file);
my %fate = read_document($document);    # {MPI}{function}
$fate{$mpi} = { read_fates() };
my @mpis  = sort keys %fate;
my %seen  = map { %{ $fate{$_} } } @mpis;
my @names = sort keys %seen;
my $tests = tests_of(@names);
write_document();
exit 0;

# "Open MPI 4.1", "MPICH 5.0", "MPI 5.0's ABI". Intel's header has MPICH's name, too.
sub name_of_mpi {
    my ($file) = @_;
    my %is;
    open my $in, '<', $file or die "gen-coverage.pl: $file: $!\n";
    while (<$in>) {
        $is{$1} = $2 if /^#define (\w+) "?([^"\n]*)/;
    }
    return "Open MPI $is{OMPI_MAJOR_VERSION}.$is{OMPI_MINOR_VERSION}"
      if defined $is{OMPI_MAJOR_VERSION};
    return 'Intel MPI ' . series($is{I_MPI_VERSION}) if defined $is{I_MPI_VERSION};
    return 'MPICH ' . series($is{MPICH_VERSION}) if defined $is{MPICH_VERSION};
    return "MPI $is{MPI_VERSION}.$is{MPI_SUBVERSION}'s ABI"
      if defined $is{MPI_ABI_VERSION};
    die "gen-coverage.pl: $file: of no MPI that pems knows\n";
}

sub series {
    my ($version) = @_;
    return $version =~ /^(\d+\.\d+)/ ? $1 : $version;
}

sub read_fates {
    my %fates;
    while (<STDIN>) {
        /^(\w+)\t(.+)$/ or die "gen-coverage.pl: $_: no function and fate\n";
        $fates{$1} = $2;
    }
    die "gen-coverage.pl: standard input: empty\n" unless %fates;
    return %fates;
}

# The table whose first column is "function" and whose last one names tests.
sub read_document {
    my ($file) = @_;
    my (@columns, %found);
    open my $in, '<', $file or return;
    while (<$in>) {
        my (undef, $function, @cells) = map { s/^ +| +$//gr } split /\|/;
        next unless defined $function && @cells > 2;
        splice @cells, -2;    # the tests, and the end of the line
        if ($function eq 'function') {
            @columns = @cells;
        } elsif ($function =~ /^MPIX?_/) {
            $found{ $columns[$_] }{$function} = $cells[$_]
              for grep { $cells[$_] ne '' } 0 .. $#columns;
        }
    }
    return %found;
}

sub kind {
    my ($fate) = @_;
    return $fate =~ /^as / ? 'implemented' : $fate;
}

sub write_document {
    my $untested = grep {
        my $name = $_;
        !$tests->{$name}
          && grep { ($fate{$_}{$name} // 'refused') !~ /^(?:refused|not wrapped)$/ } @mpis
    } @names;
    print <<"END";
# What becomes of each MPI function

Written by `make coverage` in a build for each MPI, from what that one declares and exports, from
`src/mpi_abi/functions.txt` and from the programs in `tests/mpi`: do not edit.

END
    print row('', @mpis), row('---', ('--:') x @mpis);
    for my $kind ('implemented', 'delegated', 'refused', 'not wrapped') {
        print row($kind, map { count($_, $kind) } @mpis);
    }
    print <<"END";

* *implemented*: by pems; *as MPI_X*: by what implements that one.
* *delegated*: to the real library; neither ranks nor communicators matter.
* *refused*: a call ends the job with a line that names the function (`tests/mpi/refused.sh` calls
  all that Open MPI 4.1 has): extensions (`MPIX_`), the events of `MPI_T`, and what needs processes
  that did not start together.
* *not wrapped*: the real library's own: conversions of handles that are the same numbers in C and Fortran.
* no word: that MPI has no such function.

The last column names the programs in `tests/mpi` that call the function. Of those that pems
implements or delegates with any of these MPIs, $untested have none.

END
    print row('function', @mpis, 'called in'), row(('---') x (@mpis + 2));
    for my $name (@names) {
        print row($name, (map { $fate{$_}{$name} // '' } @mpis), named($tests->{$name}));
    }
}

sub count {
    my ($its_mpi, $kind) = @_;
    return scalar grep { kind($_) eq $kind } values %{ $fate{$its_mpi} };
}

sub row {
    my (@cells) = @_;
    return '|' . join('', map { $_ eq '' ? '|' : " $_ |" } @cells) . "\n";
}

# Names of functions => the programs that call them, in order. Fortran's names
# may be in any case; a header belongs to the programs that include it. To define
# one name as another is no call.
sub tests_of {
    my %wanted = map { lc $_ => $_ } @_;
    my (%called, %text);
    for my $path (glob "$tests_dir/*.c $tests_dir/*.h $tests_dir/*.cpp"
        . " $tests_dir/*.f $tests_dir/*.f90 $tests_dir/*.f08")
    {
        open my $in, '<', $path or die "gen-coverage.pl: $path: $!\n";
        local $/;
        $text{ $path =~ s{.*/}{}r } = <$in> =~ s/^#define MPI_.*//mgr;
    }
    for my $program (grep { !/\.h$/ } sort keys %text) {
        my %seen = ($program => 1);
        my @files = ($program);
        while (defined(my $file = shift @files)) {
            my $fortran = $file =~ /\.f/;
            while ($text{$file} =~ /\b(P?MPIX?_\w+)/gi) {
                my $name = $1 =~ s/^P(?=MPI)//ir;
                my $function = $wanted{ lc $name } // next;
                $called{$function}{$program} = 1
                  if $fortran || $name eq $function;
            }
            for ($text{$file} =~ /^\s*#\s*include\s*"([^"]+)"/mg) {
                push @files, $_ if defined $text{$_} && !$seen{$_}++;
            }
        }
    }
    return { map { $_ => [ sort keys %{ $called{$_} } ] } keys %called };
}

sub named {
    my ($programs) = @_;
    my @named = @{ $programs // [] };
    splice @named, 3, @named, 'and ' . (@named - 3) . ' more' if @named > 4;
    return join ', ', @named;
}
