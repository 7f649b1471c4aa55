#!/usr/bin/perl
# Checks the sources and the objects made from them against doc/layers.txt.
#
#   layers.pl [--table=FILE] [--source=DIR] [--build=DIR] [--list]
#
# --table, --source, --build: doc/layers.txt, the sources' top directory, and that
# of the objects; default: here. --list prints each room with its sources and
# knots, too.
#
# Prints a line for each violation, "class: where: why", and how many a class has
# where that is not what the table tolerates; exits with 1 then. Classes:
#
#   table      a folder that is no room, or a line of the table about nothing
#   include    a header of a room that is not below is included
#   reference  a symbol of such a room is used
#   only       a room is used that is kept for others
#   knot       sources call each other in a circle
#   size       a room of more than 25 sources
#   prefix     an exported name does not say its module
#   home       a function is not defined where its header says
#   word       a word that only some rooms may know
#   tag        a struct tag has two meanings
#   tag_prefix a struct tag in a header does not say its module
use strict;
use warnings;
use File::Find;

my %option = (table => 'doc/layers.txt', source => '.', build => '.');
for (@ARGV) {
    if    (/^--(table|source|build)=(.+)/) { $option{$1}   = $2 }
    elsif ($_ eq '--list')                 { $option{list} = 1 }
    else  { die "layers.pl: $_: unexpected argument\n" }
}

my @classes = qw(table include reference only knot size prefix home word tag tag_prefix);
my %room;         # name => { rank, prefixes, sources, knots }
my %family;       # header => patterns of sources that define what it declares
my %interface;    # header => 1
my %only;         # room => rooms that may use it, if not all above
my @words;        # { pattern, rooms }
my %limit;        # class => how many violations are tolerated
my %violations;   # class => texts

sub violation {
    my ($class, $text) = @_;
    push @{ $violations{$class} }, $text;
}

# --- the table ---------------------------------------------------------------

sub read_table {
    open my $in, '<', $option{table} or die "layers.pl: $option{table}: $!\n";
    while (<$in>) {
        s/#.*//;
        my ($word, @rest) = split or next;
        my $where = "layers.pl: $option{table}:$.";
        if ($word eq 'room') {
            my ($rank, $name, @prefixes) = @rest;
            die "$where: room RANK NAME PREFIXES\n"
              unless defined $name && $rank =~ /^\d+$/;
            die "$where: $name: named twice\n" if $room{$name};
            $room{$name} = { rank => $rank, prefixes => \@prefixes, knots => 0 };
        } elsif ($word eq 'family') {
            my ($header, @sources) = @rest;
            die "$where: family HEADER SOURCES\n" unless @sources;
            $family{$header} = \@sources;
        } elsif ($word eq 'interface') {
            die "$where: interface HEADER\n" unless @rest == 1;
            $interface{ $rest[0] } = 1;
        } elsif ($word eq 'only') {
            my ($room, @rooms) = @rest;
            die "$where: only ROOM ROOMS\n" unless @rooms;
            $only{$room} = { map { $_ => 1 } @rest };
        } elsif ($word eq 'word') {
            my ($pattern, @rooms) = @rest;
            die "$where: word PATTERN ROOMS\n" unless @rooms;
            push @words, { pattern => qr/$pattern/, rooms => { map { $_ => 1 } @rooms } };
        } elsif ($word eq 'limit') {
            my ($class, $n) = @rest;
            die "$where: limit CLASS NUMBER\n"
              unless defined $n
              && $n =~ /^\d+$/
              && grep { $_ eq $class } @classes;
            $limit{$class} = $n;
        } else {
            die "$where: $word: unknown word\n";
        }
    }
}

# --- the sources -------------------------------------------------------------

my %file;       # "vp/vp.h" or "drivers/unix.c" => { room, text, code }

# The path as it is written in #include: below src, drivers/ or wrappers/.
sub file_name {
    my ($path) = @_;
    $path =~ s{^(?:src|include)/}{};
    return $path;
}

sub room_of {
    my ($name) = @_;
    $name =~ s{/[^/]*$}{};
    return $name;
}

sub slurp {
    my ($path) = @_;
    open my $in, '<', $path or die "layers.pl: $path: $!\n";
    local $/;
    return scalar <$in>;
}

# The text without comments, strings, directives and what is within braces.
sub outline {
    my ($text) = @_;
    $text =~ s{/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"}{ }gs;
    $text =~ s/^[ \t]*#(?:[^\n\\]|\\.)*$//mgs;
    return $text;
}

sub read_sources {
    for my $top ($option{source}, $option{build}) {
        for my $dir (qw(src drivers wrappers include)) {
            next unless -d "$top/$dir";
            find({
                no_chdir => 1,
                wanted   => sub {
                    return unless /\.(?:c|cc|h)$/ && -f;
                    my $path = substr $_, length("$top/");
                    my $name = file_name($path);
                    $file{$name} //= { path => $_, text => slurp($_) };
                },
            }, "$top/$dir");
        }
    }
    for my $name (sort keys %file) {
        my $room = $file{$name}{room} = room_of($name);
        next if $room eq 'pems' || $name eq 'pems.h';
        violation('table', "$name: no room $room in the table") unless $room{$room};
        push @{ $room{$room}{sources} }, $name if $name =~ /\.cc?$/;
    }
}

# May `from` use `to`? The public headers are below all rooms.
sub goes_up {
    my ($from, $to) = @_;
    return 0 if $from eq $to || !$room{$from} || !$room{$to};
    return $room{$to}{rank} >= $room{$from}{rank};
}

# Is `to` kept for others than `from`?
sub kept_from {
    my ($from, $to) = @_;
    return $room{$from} && $only{$to} && !$only{$to}{$from};
}

sub check_includes {
    for my $name (sort keys %file) {
        my $from = $file{$name}{room};
        while ($file{$name}{text} =~ /^[ \t]*#[ \t]*include[ \t]*"([^"]+)"/mg) {
            my $header = $1;
            my $to     = $file{$header} ? $file{$header}{room} : next;
            violation('include', "$name: includes $header, which is not below $from")
              if goes_up($from, $to);
            violation('only', "$name: includes $header, which is not for $from")
              if kept_from($from, $to);
        }
    }
}

# --- the objects -------------------------------------------------------------

my %defined;    # symbol => source
my %wants;      # source => { symbol => 1 }
my %kind;       # symbol => letter of nm

sub source_of {
    my ($object) = @_;
    $object =~ s{/\.libs/}{/};
    $object =~ s{([^/]*)\.o$}{$1};
    my ($dir, $stem) = $object =~ m{^(.*)/([^/]*)$};
    for my $try ($stem, $stem =~ /-(.*)/ ? $1 : ()) {
        for my $suffix ('cc', 'c') {
            my $name = file_name("$dir/$try.$suffix");
            return $name if $file{$name};
        }
    }
    return undef;
}

sub read_objects {
    my @objects;
    for my $dir (qw(src drivers wrappers)) {
        next unless -d "$option{build}/$dir";
        find({
            no_chdir => 1,
            wanted   => sub { push @objects, $_ if /\.o$/ },
        }, "$option{build}/$dir");
    }
    die "layers.pl: $option{build}: no object there: build first\n" unless @objects;
    my %source = map { $_ => source_of(substr $_, length("$option{build}/")) } @objects;
    open my $nm, '-|', 'nm', '-A', grep { defined $source{$_} } sort @objects;
    while (<$nm>) {
        my ($object, $letter, $symbol) = /^(.*?):[0-9a-f ]* ([A-Za-z]) (\S+)$/ or next;
        my $source = $source{$object};
        if ($letter eq 'U') {
            $wants{$source}{$symbol} = 1;
        } elsif ($letter =~ /[TDBRCGS]/) {
            $defined{$symbol}{$source} = 1;
            $kind{$symbol} = $letter;
        }
    }
    close $nm or die "layers.pl: nm failed\n";
}

my %declared;   # symbol => { header => 1 }

# Declared by no header of ours: the name is of another's interface, which a room
# implements. Who calls malloc calls libc's, as far as it knows.
sub foreign {
    my ($symbol) = @_;
    return !$declared{$symbol};
}

sub read_declarations {
    for my $name (sort keys %file) {
        next unless $name =~ /\.h$/;
        my $text = outline($file{$name}{text});
        $text =~ s/^extern\s*$//mg;
        1 while $text =~ s/\{[^{}]*\}/;/g;
        for (split /;/, $text) {
            next if /\b(?:static|typedef)\b/;
            s/\b__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)//g;
            my @symbols =
                /\(\*\s*([A-Za-z_]\w*)\s*\(/        ? $1
              : /\b([A-Za-z_]\w*)\s*\(/             ? $1
              : /\bextern\b(?:.*\b(?:struct|enum)\s+\w+)?(.*)/s ? $1 =~ /([A-Za-z_]\w*)/g
              :                                        ();
            $declared{$_}{$name} = 1 for grep { $defined{$_} } @symbols;
        }
    }
}

my %calls;      # source => { source => { symbol => 1 } }
my %edge;       # the same => one of the symbols

sub read_edges {
    for my $from (keys %wants) {
        for my $symbol (sort keys %{ $wants{$from} }) {
            my @to = sort keys %{ $defined{$symbol} // {} } or next;
            next if foreign($symbol);
            next if @to > 1 && grep { $file{$_}{room} eq $file{$from}{room} } @to;
            $calls{$from}{ $to[0] }{$symbol} = 1;
            $edge{$from}{ $to[0] } //= $symbol if $to[0] ne $from;
        }
    }
}

sub check_references {
    for my $from (sort keys %edge) {
        for my $to (sort keys %{ $edge{$from} }) {
            my ($a, $b) = ($file{$from}{room}, $file{$to}{room});
            violation('reference', "$from: calls " . join(' ', sort keys %{ $calls{$from}{$to} }) . " of $to")
              if goes_up($a, $b);
            violation('only', "$from: calls " . join(' ', sort keys %{ $calls{$from}{$to} }) . " of $to, which is not for $a")
              if kept_from($a, $b);
        }
    }
}

# --- circles -----------------------------------------------------------------

# Strongly connected components of more than one source (Tarjan).
sub knots {
    my @nodes = @_;
    my %in    = map { $_ => 1 } @nodes;
    my ($n, @stack, %index, %low, %on, @found) = (0);
    my $visit;
    $visit = sub {
        my ($v) = @_;
        $index{$v} = $low{$v} = $n++;
        push @stack, $v;
        $on{$v} = 1;
        for my $w (sort keys %{ $edge{$v} // {} }) {
            next unless $in{$w};
            if (!defined $index{$w}) {
                $visit->($w);
                $low{$v} = $low{$w} if $low{$w} < $low{$v};
            } elsif ($on{$w}) {
                $low{$v} = $index{$w} if $index{$w} < $low{$v};
            }
        }
        return if $low{$v} != $index{$v};
        my @knot;
        do {
            push @knot, pop @stack;
            delete $on{ $knot[-1] };
        } until $knot[-1] eq $v;
        push @found, [sort @knot] if @knot > 1;
    };
    no warnings 'recursion';
    for (sort @nodes) { $visit->($_) unless defined $index{$_} }
    return @found;
}

sub check_knots {
    for my $knot (knots(keys %file)) {
        my %in = map { $_ => 1 } @$knot;
        my $text = @$knot . " sources: @$knot";
        $room{$_}{knots}++ for keys %{ { map { $file{$_}{room} => 1 } @$knot } };
        for my $from (@$knot) {
            $text .= "\n    $from -> $_ ($edge{$from}{$_})"
              for grep { $in{$_} } sort keys %{ $edge{$from} };
        }
        violation('knot', $text);
    }
}

# --- names -------------------------------------------------------------------

sub stem {
    my ($name) = @_;
    return $name =~ m{([^/]+)\.\w+$} ? $1 : $name;
}

sub has_prefix {
    my ($symbol, $name) = @_;
    my $stem = stem($name);
    for my $prefix ($stem, $stem . "s", $stem =~ s/s$//r, @{ $room{ $file{$name}{room} }{prefixes} }) {
        return 1 if $symbol =~ /^\Q$prefix\E(?:_|$)/;
    }
    return 0;
}

sub check_names {
    for my $symbol (sort keys %defined) {
        next if foreign($symbol);
        for my $source (sort keys %{ $defined{$symbol} }) {
            violation('prefix', "$source: $symbol")
              unless has_prefix($symbol, $source) || public($symbol);
        }
    }
}

# Declared in a header that is installed, or that others implement.
sub public {
    my ($symbol) = @_;
    return grep { m{^pems(?:/|\.h$)} || $interface{$_} }
      keys %{ $declared{$symbol} // {} };
}

sub check_headers {
    for my $symbol (sort keys %declared) {
        next if public($symbol);
        for my $header (sort keys %{ $declared{$symbol} }) {
            for my $source (sort keys %{ $defined{$symbol} }) {
                (my $own = $header) =~ s/\.h$//;
                (my $is  = $source) =~ s/\.\w+$//;
                next if $own eq $is;
                next if grep { like($source, $_) } @{ $family{$header} // [] };
                violation('home', "$header: declares $symbol of $source");
            }
        }
    }
}

sub like {
    my ($name, $pattern) = @_;
    my $re = join '[^/]*', map { quotemeta } split /\*/, $pattern, -1;
    return $name =~ /^(?:.*\/)?$re$/;
}

# --- sizes and tags ----------------------------------------------------------

sub check_sizes {
    for my $name (sort keys %room) {
        my $n = @{ $room{$name}{sources} // [] };
        violation('size', "$name: $n sources") if $n > 25;
    }
}

sub check_words {
    for my $name (sort keys %file) {
        for my $word (@words) {
            next if $word->{rooms}{ $file{$name}{room} };
            violation('word', "$name: $1") if $file{$name}{text} =~ /($word->{pattern})/;
        }
    }
}

sub check_tags {
    my %tag;
    for my $name (sort keys %file) {
        next unless $name =~ /\.h$/;
        my $text = outline($file{$name}{text});
        while ($text =~ /\b(struct|union|enum)\s+(\w+)\s*\{/g) {
            push @{ $tag{$2} }, $name;
            my $tag = $2;
            next if $name =~ m{^pems} || $tag =~ /^pems_/;
            violation('tag_prefix', "$name: $tag") unless has_prefix($tag, $name);
        }
    }
    for (sort keys %tag) {
        violation('tag', "$_: @{ $tag{$_} }") if @{ $tag{$_} } > 1;
    }
}

# --- all together ------------------------------------------------------------

# A line of the table that is about nothing hides what it was about.
sub check_table {
    for my $name (sort keys %room) {
        violation('table', "$option{table}: room $name: has no file")
          unless grep { $file{$_}{room} eq $name } keys %file;
    }
    for my $room (sort keys %only) {
        violation('table', "$option{table}: only $room: no room $_")
          for grep { !$room{$_} } sort keys %{ $only{$room} };
    }
    for my $header (sort keys %family, sort keys %interface) {
        violation('table', "$option{table}: $header: no such file")
          unless $file{$header};
    }
}

sub list_rooms {
    for my $name (sort { $room{$a}{rank} <=> $room{$b}{rank} || $a cmp $b }
        keys %room) {
        printf "%3d %-18s %2d sources, %d knots\n", $room{$name}{rank}, $name,
          scalar @{ $room{$name}{sources} // [] }, $room{$name}{knots};
    }
}

sub report {
    my $status = 0;
    for my $class (@classes) {
        my @found = @{ $violations{$class} // [] };
        my $limit = $limit{$class} // 0;
        print "$class: $_\n" for @found > $limit || $option{list} ? @found : ();
        next if @found == $limit;
        $status = 1;
        print "$class: ", scalar @found, " found, $option{table} tolerates $limit",
          @found < $limit ? ": lower that limit\n" : "\n";
    }
    return $status;
}

read_table();
read_sources();
check_table();
check_includes();
check_sizes();
check_words();
check_tags();
read_objects();
read_declarations();
read_edges();
check_references();
check_knots();
check_names();
check_headers();
list_rooms() if $option{list};
exit report();
