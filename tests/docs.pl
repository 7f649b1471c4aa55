#!/usr/bin/perl
# Do the documents agree with the sources? Prints what does not; exit status 1.
#
#   docs.pl TOP
#
# - A path that a Markdown file or a manual page names exists (paths).
# - Each room of doc/layers.txt has a README.md of 10 to 30 lines that gives its
#   rank and names all of its sources (rooms).
# - The functions that doc/life-of-a-message.md walks through exist (walk).
# - The pictures say what their sources in dot's language say (pictures).
use strict;
use warnings;

my $top   = shift // die "usage: docs.pl TOP\n";
my $found = 0;
chdir $top or die "docs.pl: $top: $!\n";

sub report {
    print "@_\n";
    $found++;
}

sub text_of {
    my ($path) = @_;
    open my $in, '<', $path or die "docs.pl: $path: $!\n";
    local $/;
    return <$in> // '';
}

# All files of the tree, without what is built.
sub files_below {
    my ($dir) = @_;
    my @files;
    for my $path (glob "$dir/*") {
        next if -l $path;
        if   (-d $path) { push @files, files_below($path) }
        else            { push @files, $path }
    }
    return @files;
}

my @folders = grep { -d } qw(apps doc drivers include python src tests
                                wrappers);
my %file    = map  { $_ => 1 } (glob('*.*'), glob('*'), map { files_below($_) } @folders);
my %ending;    # every way to write the end of a path, by whole components
for my $path (keys %file) {
    my $end = $path;
    $ending{$end} = 1;
    $ending{$end} = 1 while $end =~ s{^[^/]*/}{};
}

# "a/{b,c}.h" as a/b.h and a/c.h.
sub expand {
    my ($word) = @_;
    return $word unless $word =~ /^(.*?)\{([^{}]*)\}(.*)$/;
    my ($before, $list, $after) = ($1, $2, $3);
    return map { expand("$before$_$after") } split /,/, $list, -1;
}

sub pattern_of {
    my ($word) = @_;
    return join '', map { $_ eq '*' ? '[^/]*' : quotemeta } split /(\*)/, $word;
}

sub exists_here {
    my ($path) = @_;
    $path =~ s{/$}{};
    return 1 if $file{$path} || -d $path;
    return 0 unless $path =~ /\*/;
    my $pattern = pattern_of($path);
    return scalar grep { /^$pattern$/ } keys %file;
}

# A name without its folders: of any file.
sub ends_a_path {
    my ($name) = @_;
    return $ending{$name} unless $name =~ /\*/;
    my $pattern = pattern_of($name);
    return scalar grep { m{(?:^|/)$pattern$} } keys %file;
}

# --- paths ---

sub check_paths {
    my ($document) = @_;
    my $number = 0;
    my $tops   = join '|', @folders;
    for my $line (split /\n/, text_of($document)) {
        $number++;
        while ($line =~ m{(?<![\w/.<\$-])((?:\.\./)?(?:$tops)/[\w.{},*/+-]*)}g) {
            my $path = $1;
            $path =~ s{^\.\./}{};
            $path =~ s{[.,]+$}{};
            next if is_example($path);
            for my $one (expand($path)) {
                exists_here($one) || generated($one)
                  or report("$document:$number: no such path: $one:",
                    "correct this line");
            }
        }
        next unless $document =~ /\.md$/;
        while ($line =~ /`([\w{},*-]+(?:\/[\w{},*-]+)*\.(?:c|h|cc|S|pl|mk|sh))`/g) {
            for my $name (expand($1)) {
                next if is_example($name);
                ends_a_path($name) || generated($name)
                  or report("$document:$number: no such file: $name:",
                    "correct this line");
            }
        }
    }
}

# A word in capitals stands for any: "policy_NAME.c".
sub is_example {
    my ($path) = @_;
    $path =~ s/README|CONTRIBUTING|LICENSE//g;
    return $path =~ /[A-Z]{4,}|_X\b/;
}

# Made by the build, or the system's.
sub generated {
    my ($path) = @_;
    return $path =~ m{(?:^|/)(?:wrappers|real|functions|refused|mpi|mpif|pems)\.[ch]$}
      || $path =~ m{^(?:apps|tests)/} && exists_here("$path.c");
}

# --- rooms ---

sub rooms {
    my @rooms;
    for (split /\n/, text_of('doc/layers.txt')) {
        push @rooms, [ $2, $1 ] if /^room\s+(\d+)\s+(\S+)/;
    }
    report("doc/layers.txt: no rooms") unless @rooms;
    return @rooms;
}

sub folder_of {
    my ($room) = @_;
    return -d "src/$room" ? "src/$room" : $room;
}

# What the words in backticks name: "a.c", "a" for a.* and "a_*".
sub is_named {
    my ($source, $words) = @_;
    (my $stem = $source) =~ s/\.[^.]*$//;
    for my $word (@$words) {
        my $pattern = pattern_of($word);
        return 1 if $source =~ /^$pattern$/ || $stem =~ /^$pattern$/;
    }
    return 0;
}

sub check_room {
    my ($room, $rank) = @_;
    my $folder = folder_of($room);
    my $readme = "$folder/README.md";
    unless (-f $readme) {
        report("$folder: no README.md: what it is for, its files, what it may",
            "call, its invariants (see src/os/README.md)");
        return;
    }
    my $text  = text_of($readme);
    my $lines = () = $text =~ /\n/g;
    report("$readme: $lines lines: 10 to 30, please")
      if $lines < 10 || $lines > 30;
    report("$readme: write 'Rank $rank in `doc/layers.txt`': that is what the",
        "table says")
      unless $text =~ /^Rank $rank in `doc\/layers\.txt`/m;
    report("$readme: no list '## Invariants' that begins with '1. '")
      unless $text =~ /^## Invariants\n\n1\. /m;
    my @words = map { expand($_) } $text =~ /`([^`\s]+)`/g;
    for my $path (sort glob "$folder/*.{c,h,cc,S,pl}") {
        next unless $file{$path};
        (my $source = $path) =~ s{.*/}{};
        next if is_named($source, \@words);
        (my $stem = $source) =~ s/\.[^.]*$//;
        report("$readme: does not name $source: add '- `$stem`: what it is'",
            "to its list of files");
    }
}

# --- the walk ---

sub check_walk {
    my ($document) = @_;
    return unless -f $document;
    my $sources = join "\n",
      map { text_of($_) } grep { /\.(?:c|h|S|pl|txt)$/ && m{^(?:src|drivers)/} } keys %file;
    my %called = map { $_ => 1 } $sources =~ /\b([A-Za-z_]\w*)\s*\(/g;
    my $text   = text_of($document);
    my @names  = $text =~ /`(\w+)\(\)`/g;
    report("$document: names no function") unless @names;
    for my $name (@names) {
        next if $name =~ /^P?MPI_/ || $called{$name};
        report("$document: no function $name(): write its name of today");
    }
}

# --- pictures ---

sub check_pictures {
    for my $source (sort glob 'doc/pictures/*.dot') {
        (my $picture = $source) =~ s/dot$/svg/;
        my $drawn = -f $picture ? text_of($picture) : '';
        $drawn =~ s/&(?:#160|nbsp);/ /g;
        $drawn =~ s/&#45;/-/g;
        $drawn =~ s/&#39;/'/g;
        $drawn =~ s/&lt;/</g;
        $drawn =~ s/&gt;/>/g;
        $drawn =~ s/&amp;/&/g;
        my @labels = text_of($source) =~ /label="([^"]*)"/g;
        push @labels, map { $_->[0] } rooms() if $source =~ /layers\.dot$/;
        for my $line (map { split /\\[nlr]/ } @labels) {
            $line =~ s/^\s+|\s+$//g;
            next if index($drawn, $line) >= 0;
            report("$picture: does not say '$line': write it into $source,",
                "then run 'make pictures'");
            last;
        }
    }
}

my @documents = sort grep { /\.md$/ || m{^doc/man/} } keys %file;
check_paths($_) for @documents;
check_room(@$_) for rooms();
check_walk('doc/life-of-a-message.md');
check_pictures();
print "docs: $found things are not as the sources are\n" if $found;
exit($found ? 1 : 0);
