#!/usr/bin/perl
# Writes the interposition of MPI from the preprocessed mpi.h.
#
#   gen-mpi.pl MODE [--functions=FILE] [--abi=ABI] [--symbols=FILE] < mpi.i
#
# MODE       real.h       struct real: a pointer to every real function
#            real.c       real_load, which finds them
#            functions.h  prototypes of what pems implements: pems_X
#            wrappers.c   the exported PMPI_X; names.S has the MPI_X
#            refused.h    the names, for the test that none slips through
#            fates        what becomes of each function: gen-coverage.pl's input
# mpi.i      output of `$(CC) -E` for a file that includes mpi.h, compiled with
#            -DOMPI_OMIT_MPI1_COMPAT_DECLS=0 to see what Open MPI hides
# FILE       functions.txt (default: beside this script); and `nm -D` of the MPI
#            library: what it exports and mpi.h does not declare is refused
# ABI        functions-ABI.txt beside functions.txt, if there is one, overrides it
#
# counts.txt, beside it, too, says what MPI_X_c, for large counts, has of MPI_X.
use strict;
use warnings;

my %kinds = map { $_ => 1 }
  qw(implemented local like delegated serial direct native);
# Blocking collective calls: the supersteps of a program. Where they are on all
# ranks a checkpoint may be taken.
my %supersteps = map { $_ => 1 }
  qw(Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall
  Alltoallv Alltoallw Reduce Allreduce Reduce_scatter Reduce_scatter_block Scan
  Exscan);
# Calls for messages: where ranks may stop for one, too. Those that wait can be
# left and made again: 2 where they take arrays, which the caller may have made
# for this call.
my %messages = (
    map({ ($_ => 0) } qw(Isend Issend Ibsend Irsend Irecv Isendrecv
          Isendrecv_replace Imrecv Start Test Iprobe Improbe)),
    map({ ($_ => 1) } qw(Send Ssend Bsend Rsend Recv Mrecv Sendrecv
          Sendrecv_replace Wait Probe Mprobe Neighbor_allgather
          Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv)),
    map({ ($_ => 2) } qw(Waitall Waitany Waitsome)),
);
# What a rank has that no checkpoint can save: 1 for what makes one, -1 for what
# frees one.
my %unsaved = (
    map({ ("Add_error_$_" => 1, "Remove_error_$_" => -1) } qw(class code string)),
    map({ ("Abi_set_fortran_$_" => 1) } qw(booleans info)),
    Register_datarep   => 1,
    Register_datarep_c => 1,
    T_init_thread      => 1,
    T_finalize         => -1,
);
# Objects of the real library, which the program knows by handles of pems where
# checkpoints are taken (carried.h).
my %carried = (
    Datatype   => 'TYPE',
    Op         => 'OP',
    Info       => 'INFO',
    Errhandler => 'ERRHANDLER',
);
my ($functions_file) = $0 =~ m{^(.*/)} ? "$1functions.txt" : "functions.txt";
my ($mode, $symbols_file, $abi);
for (@ARGV) {
    if    (/^--functions=(.+)/) { $functions_file = $1 }
    elsif (/^--abi=(\w+)/)      { $abi            = $1 }
    elsif (/^--symbols=(.+)/)   { $symbols_file   = $1 }
    elsif (!defined $mode)      { $mode           = $_ }
    else                        { die "gen-mpi.pl: $_: unexpected argument\n" }
}
my %writers = (
    'real.h'      => \&write_real_h,
    'real.c'      => \&write_real_c,
    'functions.h' => \&write_functions_h,
    'wrappers.c'  => \&write_wrappers_c,
    'refused.h'   => \&write_refused_h,
    'fates'       => \&write_fates,
);
my $writer = $writers{ $mode // '' }
  or die "usage: gen-mpi.pl " . join('|', sort keys %writers)
  . " [--functions=FILE] [--abi=ABI] [--symbols=FILE] < mpi.i\n";

my $header     = read_header();
my %functions  = read_declarations($header);
my %undeclared = leave_exported($symbols_file);
my %native; # those that the MPI has, and pems leaves to it
read_kinds($functions_file);
if (defined $abi) {
    (my $file = $functions_file) =~ s/(?=\.txt$)/-$abi/;
    read_kinds($file) if -e $file;
}
read_counts($functions_file =~ s/[^\/]*$/counts.txt/r);
my @names = sort keys %functions;
print "/* Written by gen-mpi.pl: do not edit. */\n" if $mode ne 'fates';
$writer->();
exit 0;

# The text of mpi.i without line markers, attributes and extra blanks.
sub read_header {
    local $/;
    my $text = <STDIN>;
    die "gen-mpi.pl: standard input: empty: give it the preprocessed mpi.h\n"
      unless defined $text && $text =~ /\S/;
    $text =~ s/^[ \t]*#.*$//mg;
    my $parens = qr/(\((?:[^()"]++|"(?:[^"\\]|\\.)*"|(?1))*\))/;
    $text =~ s/\b__attribute(?:__)?\s*$parens//g;
    $text =~ s/\b(?:__asm__|__asm)\s*$parens//g;
    $text =~ s/\b__extension__\b//g;
    $text =~ s/\s+/ /g;
    return $text;
}

# "Bcast" of MPI_Bcast, "X_Foo" of MPIX_Foo; undef for what is no function of
# MPI's own: the predefined callbacks and Fortran's names are in capitals.
sub short_name {
    my ($name) = @_;
    return $name =~ /^P?MPI(?:_(?=\w*[a-z])|(?=X_\w*[a-z]))(\w+)$/ ? $1 : undef;
}

sub long_name {
    my ($short) = @_;
    return ($short =~ /^X_/ ? "MPI" : "MPI_") . $short;
}

sub read_declarations {
    my ($text) = @_;
    my %found;
    # Statement by statement: one search through all would begin anew at each word.
    for my $statement (split /;/, $text) {
        $statement =~ s/^.*[{}]//;
        $statement =~ /^(.*?)\b(P?MPIX?_\w+) ?(\((?:[^()]++|(?3))*\)) ?$/
          or next;
        my ($type, $name, $params) = ($1, $2, $3);
        my $short = short_name($name) // next;
        $type =~ s/\b(?:extern|inline)\b//g;
        $type =~ s/^ +| +$//g;
        next if $type eq '' || $type =~ /\btypedef\b/ || $found{$short};
        $found{$short} = declaration($short, $type, $params);
    }
    die "gen-mpi.pl: standard input: no MPI function declared there\n"
      unless $found{Init};
    return %found;
}

# Splits the parameters and gives every one a name.
sub declaration {
    my ($short, $type, $params) = @_;
    my (@params, @args, $variadic);
    $params =~ s/^\( ?| ?\)$//g;
    my @list = $params =~ /((?:[^,()]++|(\((?:[^()]++|(?2))*\)))+)/g;
    @list = @list[ grep { $_ % 2 == 0 } 0 .. $#list ];
    for my $param (@list) {
        $param =~ s/^ +| +$//g;
        next if $param eq 'void';
        if ($param eq '...') { $variadic = 1; next }
        my $name = parameter_name($param);
        if (!defined $name) {
            $name = "arg" . @args;
            $param =~ s/^([^\[]*)/$1 $name/;
        }
        push @params, $param;
        push @args,   $name;
    }
    return {
        name     => long_name($short),
        type     => $type,
        kind     => 'refused',
        params   => join(', ', @params, $variadic ? '...' : ()) || 'void',
        args     => join(', ', @args),
        list     => \@params,
        names    => \@args,
    };
}

sub parameter_name {
    my ($param) = @_;
    return $1 if $param =~ /\( ?\* ?(\w+) ?\) ?\(/;
    my $words = $param;
    $words =~ s/ ?\[.*//;
    my $name = $words =~ /(\w+)$/ ? $1 : return undef;
    $words =~ s/\b(?:const|volatile|restrict|struct)\b//g;
    my @words = $words =~ /(\w+)/g;
    return undef if @words < 2;
    return undef if $name =~ /^(?:int|char|long|short|unsigned|double|float)$/;
    return $name;
}

# Leaves those functions that the library exports: MPICH 4 declares some that
# are in its library for Fortran. Returns what it exports and no header declares:
# name => 1.
sub leave_exported {
    my ($file) = @_;
    my %exported;
    return unless defined $file;
    open my $in, '<', $file or die "gen-mpi.pl: $file: $!\n";
    while (<$in>) {
        next if / U /;
        next unless /\b(P?MPIX?_\w+)(?:@\S+)?\s*$/;
        my $short = short_name($1) // next;
        $exported{$short} = 1;
    }
    delete @functions{grep { !$exported{$_} } keys %functions};
    delete @exported{keys %functions};
    return %exported;
}

sub read_kinds {
    my ($file) = @_;
    open my $in, '<', $file or die "gen-mpi.pl: $file: $!\n";
    my (%seen, @absent);
    while (<$in>) {
        s/#.*//;
        my ($short, $kind, $like, @rest) = split or next;
        my $bad =
             !defined $kind                         ? "no kind for $short"
          : !$kinds{$kind}                          ? "$kind: unknown kind"
          : ($kind eq 'like') != defined $like      ? "$short: wrong fields"
          : @rest                                   ? "$short: wrong fields"
          : $seen{$short}++                         ? "$short: named twice"
          :                                           undef;
        die "gen-mpi.pl: $file:$.: $bad\n" if $bad;
        if ($kind eq 'native') {
            my $is_there = delete $functions{$short} || delete $undeclared{$short};
            $native{$short} = 1 if $is_there;
        } elsif ($functions{$short}) {
            $functions{$short}{kind} = $kind;
            $functions{$short}{like} = $like // $short;
        } else {
            push @absent, long_name($short);
        }
    }
    warn "gen-mpi.pl: note: $file: not in this mpi.h: @absent\n"
      if @absent && $mode eq 'wrappers.c';
}

# MPI_X and MPI_X_c of the same parameters are one function of pems, which takes
# large ones. What they are is {large}, by place: "" or, for arrays, "v".
sub read_counts {
    my ($file) = @_;
    open my $in, '<', $file or die "gen-mpi.pl: $file: $!\n";
    while (<$in>) {
        s/#.*//;
        my ($short, @places) = split or next;
        my $f = $functions{$short} // next;
        my %large = map { /^(\d+)(v?)$/ ? ($1 - 1 => $2) : die
              "gen-mpi.pl: $file:$.: $_: no place of a parameter\n" } @places;
        $f->{large} = \%large;
        my $c = $functions{"${short}_c"} // next;
        my @differ = grep { $f->{list}[$_] ne $c->{list}[$_] }
          0 .. $#{ $f->{list} };
        die "gen-mpi.pl: $file:$.: $short: mpi.h has other large parameters\n"
          if "@differ" ne join ' ', sort { $a <=> $b } keys %large;
        next if $c->{kind} ne 'refused' || $f->{kind} ne 'implemented';
        @$c{qw(kind like large is_c)} = ('like', $f->{like}, \%large, 1);
    }
}

# The parameters of pems_X, and what a wrapper passes for them. MPICH 4.2 declares the
# requests of MPI_Request_get_status_any and its like without the standard's const.
sub inner_params {
    my ($f) = @_;
    return $f->{params} =~ s/(?<!const )(?=MPI_Request \w+\[)/const /r
      if $f->{name} =~ /_Request_get_status_/;
    my $large = $f->{large} or return $f->{params};
    return join ', ', map {
          !defined $large->{$_} ? $f->{list}[$_]
        : $large->{$_} eq 'v'   ? "struct counts $f->{names}[$_]"
        :                         "MPI_Count $f->{names}[$_]"
    } 0 .. $#{ $f->{list} };
}

sub inner_args {
    my ($f) = @_;
    my $large = $f->{large} or return $f->{args};
    my $make = $f->{is_c} ? 'counts_large' : 'counts_of';
    return join ', ', map {
        ($large->{$_} // '') eq 'v' ? "$make($f->{names}[$_])" : $f->{names}[$_]
    } 0 .. $#{ $f->{list} };
}

sub write_real_h {
    print <<'END';
/* The real MPI library: a pointer to each of its functions. */
#ifndef PEMS_MPI_REAL_H
#define PEMS_MPI_REAL_H

#include <mpi.h>

END
    # Hidden by Open MPI's mpi.h, and a parameter of what it hides.
    print "$1;\n\n"
      if $header =~ /(typedef void ?\( ?MPI_Handler_function ?\) ?\([^;]*\)) ?;/;
    print "#define REAL_HAS_$_\n" for grep { /_c$/ } @names;
    print "\nstruct real {\n";
    for my $short (@names) {
        my $f = $functions{$short};
        print "  $f->{type} (*$short)($f->{params});\n";
    }
    print <<'END';
};
extern struct real real;

/* Fills `real`. Functions that the library lacks stay NULL; ends the job if
   pems needs one of those. Not thread-safe; called before MPI is used. */
void real_load(void);

#endif
END
}

sub write_real_c {
    print <<'END';
#define _GNU_SOURCE
#include "mpi_below/real.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi_below/link.h"

struct real real;

static const struct entry {
  const char *name; /* "PMPI_X" */
  size_t offset;    /* of its pointer in struct real */
  bool needed;      /* pems calls it for the program */
} entries[] = {
END
    for my $short (@names) {
        my $f      = $functions{$short};
        my $needed = $f->{kind} eq 'refused' ? 'false' : 'true';
        print "  {\"P$f->{name}\", offsetof(struct real, $short), $needed},\n";
    }
    print <<'END';
};

/* A constructor, for other libraries' constructors may ask MPI_Initialized. */
__attribute__((constructor)) void real_load(void) {
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    const struct entry *e = &entries[i];
    void *function = dlsym(RTLD_NEXT, e->name);
    if (!function && e->needed)
      link_refuse_missing(e->name + 1);
    *(void **)((char *)&real + e->offset) = function;
  }
}
END
}

sub write_functions_h {
    print <<'END';
/* The MPI functions that pems implements; same contract as MPI's. Those that not
   every mpi.h declares are defined in their sources where PEMS_MPI_HAS_X is. */
#ifndef PEMS_MPI_FUNCTIONS_H
#define PEMS_MPI_FUNCTIONS_H

#include <mpi.h>

#include "mpi_abi/counts.h"

END
    for my $short (@names) {
        my $f = $functions{$short};
        print "#define PEMS_MPI_HAS_$short\n$f->{type} pems_$short("
          . inner_params($f) . ");\n"
          if $f->{kind} =~ /^(?:implemented|local)$/;
    }
    print "\n#endif\n";
}

sub write_wrappers_c {
    print <<'END';
#define _GNU_SOURCE
#include <mpi.h>

#include "mpi_abi/carried.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "mpi_abi/refuse.h"
#include "mpi/job/tools.h"
#include "mpi/object/op.h"
#include "os/native.h"
#include "vp/side_stack.h"
#include "vp/vp.h"
#include "base/self.h"

#define EXPORTED __attribute__((visibility("default")))

END
    # Open MPI's mpi.h hides removed functions behind macros of their names.
    print "#undef $functions{$_}{name}\n#undef P$functions{$_}{name}\n"
      for @names;
    for my $short (@names) {
        my $f     = $functions{$short};
        my %bodies = (
            refused     => \&body_refused,
            implemented => \&body_implemented,
            like        => \&body_implemented,
            local       => \&body_implemented,
            delegated   => \&body_delegated,
            serial      => \&body_delegated,
            direct      => \&body_delegated,
        );
        my @body = $bodies{ $f->{kind} }->($short, $f);
        if (can_be_left($f)) {
            print "\nstatic __attribute__((noinline)) int again_$short("
              . "$f->{params}, void *site) {\n", map({ "  $_\n" } @body), "}\n";
            @body = repeat($short, $f);
        }
        print "\nEXPORTED $f->{type} P$f->{name}($f->{params}) {\n";
        print map { "  $_\n" } @body;
        print "}\n";
    }
    print "\n/* Exported by the library, and declared nowhere: what they take is"
      . "\n   not known, so they cannot be passed on. */\n"
      if %undeclared;
    for my $short (sort keys %undeclared) {
        my $name = long_name($short);
        print "\nEXPORTED _Noreturn void P$name(void);\n"
          . "void P$name(void) {\n  mpi_refuse(\"$name\");\n}\n";
    }
}

# Other threads than the rank's main one go on only if it has asked for that.
sub guard {
    my ($f) = @_;
    return (
        'if (self.helper && self.inside == 0)',
        "  mpi_helper_calls(\"$f->{name}\");"
    );
}

sub body_refused {
    my ($short, $f) = @_;
    return (
        guard($f), 'if (self_native())',
        "  return real.$short($f->{args});",
        "mpi_refuse(\"$f->{name}\");"
    );
}

sub superstep {
    my ($f) = @_;
    return () unless $supersteps{ $f->{like} };
    my ($comm) = grep { $f->{list}[$_] =~ /^MPI_Comm\b/ } 0 .. $#{ $f->{list} };
    my $moves = grep({ /^MPI_Op\b/ } @{ $f->{list} }) ? 'false' : 'true';
    return (
        'if (vp_superstep)',
        "  vp_superstep((uintptr_t)$f->{names}[$comm], $moves);"
    );
}

# Who has gone on into it does not leave it while others write to a checkpoint.
sub superstep_over {
    my ($f) = @_;
    return $supersteps{ $f->{like} }
      ? ('if (self.vp->ahead)', '  vp_superstep_over();')
      : ();
}

# At the entry of a call for a message.
sub stop {
    my ($f) = @_;
    return () unless defined $messages{ $f->{like} };
    my $array = $messages{ $f->{like} } == 2 ? array_of($f) : 'NULL';
    return ('if (vp_is_to_stop())', "  vp_stop($array);");
}

# The requests that a call waits for.
sub array_of {
    my ($f) = @_;
    my ($i) = grep { $f->{list}[$_] =~ /^MPI_Request\b/ } 0 .. $#{ $f->{list} };
    return $f->{names}[$i];
}

# A call that can be left: its arguments are those of the program each time.
sub repeat {
    my ($short, $f) = @_;
    return (
        guard($f),
        'if (self_native())',
        "  return real.$short($f->{args});",
        'int rc;',
        'do {',
        map({ "  $_" } stop($f)),
        "  rc = again_$short($f->{args}, __builtin_return_address(0));",
        '} while (rc == VP_LEFT);',
        'return rc;'
    );
}

sub can_be_left {
    my ($f) = @_;
    return $f->{kind} =~ /^(?:implemented|like)$/ && $messages{ $f->{like} };
}

sub count_objects {
    my ($short, $f) = @_;
    my $made = $unsaved{$short} or return ();
    return (
        'if (rc == MPI_SUCCESS && self.vp && !self.inside)',
        "  self.vp->unsaved += $made;"
    );
}

# Lines before the call of a function, and after it. What is taken is translated;
# of what is given a handle is made.
sub carry {
    my ($short, $f) = @_;
    my (@before, @after);
    for my $i (0 .. $#{ $f->{list} }) {
        my $name = $f->{names}[$i];
        my ($type, $at, $many) =
          $f->{list}[$i] =~ /^(?:const )?MPI_(\w+) ?(\*?) ?\w+ ?(\[\])?$/
          or next;
        next if !$carried{$type};
        my ($in, $out) = carry_one($short, $f, $name, $type, $at, $many);
        push @before, @$in;
        push @after,  @$out;
    }
    push @after, "if (carry && rc == MPI_SUCCESS)",
      "  carried_dup($f->{names}[0], *$f->{names}[1]);"
      if $short eq 'Type_dup';
    unshift @before, 'const bool carry = carried_on();' if @before || @after;
    return (\@before, \@after);
}

sub carry_one {
    my ($short, $f, $name, $type, $at, $many) = @_;
    my $given = "carry && rc == MPI_SUCCESS";
    return many_carried($short, $f, $name) if $many && $type eq 'Datatype';
    return ([], []) if $many;
    return (["if (carry)", "  $name = carried_real_$type($name);"], []) if !$at;
    return ([], ["if ($given)", "  *$name = carried_new_$type(*$name);"])
      if $short !~ /_free$|^Type_commit$/;
    my $freed = $short =~ /_free$/;
    my $whole = $freed && $short ne 'Type_free';    # that does the rest itself
    return (
        [
            "MPI_$type *const given = $name;",
            "struct carried *const held = carry && given ? "
              . "carried_object_$type(*given) : NULL;",
            "MPI_$type behind = held ? (MPI_$type)held->real : 0;",
            'if (held)', "  $name = &behind;",
            $short eq 'Type_free'
            ? ('if (held && carried_share(held)) {',
                '  *given = MPI_DATATYPE_NULL;', '  return MPI_SUCCESS;', '}')
            : (),
            $whole ? 'carried_take(held);' : ()
        ],
        [
            'if (held && rc == MPI_SUCCESS)',
            $freed ? '  *given = behind;' : '  held->committed = true;',
            $whole ? 'carried_taken(held, rc == MPI_SUCCESS);' : ()
        ]
    );
}

# Those of MPI_Alltoallw and the like are read where their number is known.
sub many_carried {
    my ($short, $f, $name) = @_;
    return ([], ["if (carry && rc == MPI_SUCCESS)",
            "  carried_contents($f->{names}[0], $name);"])
      if $short =~ /^Type_get_contents/;
    return ([], []) if $short !~ /^Type_(?:create_)?struct/;
    return (
        [
            "MPI_Datatype *const behind = carry ? "
              . "carried_types($name, $f->{names}[0]) : NULL;",
            'if (behind)',
            "  $name = behind;"
        ],
        ['native_free(behind);']
    );
}

# MPI_Type_c2f and the like: for handles of pems, numbers of pems.
sub convert_carried {
    my ($short, $f) = @_;
    my ($what, $to) = $short =~ /^(Type|Op|Info|Errhandler)_(\w+)$/ or return ();
    my $type = $what eq 'Type' ? 'Datatype' : $what;
    return (
        'if (carried_on()) {',
        "  struct carried *const c = carried_object_$type($f->{args});",
        '  if (c)', '    return handle_c2f(&c->handle);', '}'
    ) if $to =~ /^(?:c2f|toint)$/;
    return (
        'if (carried_on()) {',
        "  struct handle *const h = handle_f2c(HANDLE_$carried{$type}, $f->{args});",
        '  if (h)', "    return ABI_HANDLE(MPI_$type, h);", '}'
    ) if $to =~ /^(?:f2c|fromint)$/;
    return ();
}

sub body_implemented {
    my ($short, $f) = @_;
    my $local = $f->{kind} eq 'local';
    my $left  = can_be_left($f);
    my @leaving =
        !$left     ? ()
      : $left == 2 ? ('self.vp->array = ' . array_of($f) . ';',
                      'self.vp->leaving = VP_LEAVES_ARRAYS;')
      :              ('self.vp->leaving = VP_LEAVES;');
    my ($before, $after) = carry($short, $f);
    return (
        $local || $left ? () : guard($f),
        $left
        ? ()
        : ('if (self_native())', "  return real.$short($f->{args});"),
        superstep($f),
        $left ? () : stop($f),
        @$before,
        'self_enter();',
        $local ? () : "const bool entered = mpi_enter(\"$f->{name}\");",
        'self.site = ' . ($left ? 'site;' : '__builtin_return_address(0);'),
        'self.calls++;',
        @leaving,
        "self.function = \"$f->{name}\";",
        'char apart[CONTEXT_STACK_APART];',
        'const bool left = vp_program_stops(self.vp, apart);',
        'char *const aside = left ? NULL : side_stack_for(self.vp, apart);',
        'void *const before = aside ? side_stack_switch(aside, '
          . '__builtin_alloca(16)) : NULL;',
        "$f->{type} rc = pems_$f->{like}(" . inner_args($f) . ");",
        'if (before)',
        '  side_stack_switch(before, NULL);',
        superstep_over($f),
        $left ? 'self.vp->leaving = VP_STAYS;' : (),
        'vp_program_goes_on(self.vp, left);',
        $local ? () : 'mpi_leave(entered);',
        @$after,
        'self_leave();',
        count_objects($short, $f),
        'return rc;'
    );
}

sub body_delegated {
    my ($short, $f) = @_;
    my $inside = $f->{kind} ne 'direct';
    my $serial = $f->{kind} eq 'serial';
    my @before = $inside ? () : ('const long before = self.vp ? self.vp->native : 0;');
    my @after = $inside ? () : ('if (self.vp)', '  self.vp->native = before;');
    # c2f, toint and the like return handles, Wtime a time: the others an error
    # code. The tools' functions never call an error handler.
    my $is_code = $f->{type} eq 'int' && $short !~ /_(?:c2f|toint)$|^T_/;
    my @convert = convert_carried($short, $f);
    my ($before, $after) = @convert ? ([], []) : carry($short, $f);
    return (
        @convert,
        # Another rank of the process may have begun it.
        $short =~ /^T_/
        ? ('if (!self_native() && !tools_ready())',
            '  return MPI_T_ERR_NOT_INITIALIZED;')
        : (),
        @$before,
        $inside ? 'self_enter();'       : (),
        @before,
        $serial ? 'mpi_serial_enter();' : (),
        $short =~ /^Reduce_local(?:_c)?$/
        ? ("if (carry && op_call($f->{args}))", '  return MPI_SUCCESS;')
        : (),
        "$f->{type} rc = real.$short($f->{args});",
        $serial ? 'mpi_serial_leave();' : (),
        !$inside && @$after ? 'self_enter();' : (),
        @$after,
        $inside || @$after ? 'self_leave();' : (),
        @after,
        count_objects($short, $f),
        $is_code ? "return mpi_delegated(rc, \"$f->{name}\");" : 'return rc;'
    );
}

# X(name, fate): all functions that libpems must define.
sub write_refused_h {
    print <<'END';
/* Every MPI function. MPI_FUNCTION(name, refused): refused is 1 for those that
   end the job. */
END
    my %refused =
      map { $functions{$_}{name} => $functions{$_}{kind} eq 'refused' } @names;
    $refused{ long_name($_) } = 1 for keys %undeclared;
    printf "MPI_FUNCTION(%s, %d)\n", $_, $refused{$_} ? 1 : 0
      for sort keys %refused;
}

# What becomes of each function, a line each, for gen-coverage.pl: its name, a tab,
# a word and for the old names the one that stands for it.
sub write_fates {
    my %fates = map { $functions{$_}{name} => fate($_) } @names;
    $fates{ long_name($_) } = 'refused'     for keys %undeclared;
    $fates{ long_name($_) } = 'not wrapped' for keys %native;
    print "$_\t$fates{$_}\n" for sort keys %fates;
}

sub fate {
    my ($short) = @_;
    my $kind = $functions{$short}{kind};
    return 'implemented' if $kind =~ /^(?:implemented|local)$/;
    return "as MPI_$functions{$short}{like}" if $kind eq 'like';
    return $kind eq 'refused' ? 'refused' : 'delegated';
}
