#!/bin/sh
# Time-forward processing: the programs in apps/ in all modes, against loops in
# memory, with graphs made up, in files, and of Debian's packages; more messages
# than memory, in a cgroup; inducing of suffix arrays; and an MPI program with a
# queue in each rank, on pems and by mpirun.
# shellcheck source=tests/em/apps_lib.sh
. "$(dirname "$0")/apps_lib.sh"
# shellcheck source=tests/launcher.sh
. "$(dirname "$0")/../launcher.sh"
mkdir "$work/text"

# modes WHAT OPTION...: each program in each mode gives right numbers, and the
# same in all modes.
modes() {
  what=$1
  shift
  for app in longest_path circuit independent_set; do
    sum=
    for mode in sequential limit bulk; do
      try "$app, $mode, $what" "$apps/$app" --mode $mode --verify \
        --disk "$work/disk" "$@"
      [ "$(value verified)" = 1 ] || fail "$title: not verified"
      [ "${sum:-$(value sum)}" = "$(value sum)" ] || fail "$title: another sum"
      sum=$(value sum)
    done
  done
}

# --- graphs made up -----------------------------------------------------------

for memory in 8M 64M; do
  for threads in 1 4; do
    modes "$memory, $threads threads" --memory $memory --threads $threads \
      --nodes 60000 --layers 30 --reach 30
  done
done
modes "few" --nodes 2 --layers 2
modes "none" --nodes 0
modes "one layer" --nodes 5000 --layers 1
modes "as many layers as nodes" --nodes 3000 --layers 3000 --reach 2000
modes "next layer only" --nodes 30000 --layers 100 --reach 1 --degree 9
modes "no edges" --nodes 5000 --degree 0
modes "another seed" --nodes 30001 --layers 7 --seed 5 --io mem

refuse "no mode" "see --help" "$apps/circuit" --mode magic
refuse "no graph" "no such graph" "$apps/circuit" --layers 0
refuse "no memory" "give [0-9]* or more" "$apps/circuit" --memory 4K
refuse "no disk" "$work/nothing" "$apps/circuit" --disk "$work/nothing/at/all"

# --- graphs in files ----------------------------------------------------------

longest() {
  try "longest path: $1" "$apps/longest_path" --memory 8M --verify "$1"
}
try "store" "$apps/dag_file" --nodes 40000 --memory 8M "$work/graph"
edges=$(value edges)
modes "stored" --memory 8M "$work/graph"
try "not stored" "$apps/longest_path" --nodes 40000
sum=$(value sum)
longest "$work/graph"
[ "$(value sum)" = "$sum" ] || fail "stored: another graph"
# Edges of the file in any order, as numbers and as text, are the same graph.
# shellcheck disable=SC2016 # this is Perl
"$perl" -e '
  binmode STDIN; undef $/; my $t = <STDIN>;
  my ($nodes, $edges, $layers) = unpack "x8QQQ", $t;
  my @e = unpack "(a16)*", substr $t, 32 + 8 * $layers;
  srand 3;
  for my $i (reverse 1 .. $#e) {
    my $j = int rand $i + 1;
    @e[$i, $j] = @e[$j, $i];
  }
  open my $f, ">", "$ARGV[0]/pairs" or die; binmode $f; print $f @e;
  open my $g, ">", "$ARGV[0]/lines" or die;
  print $g join(" ", unpack "QQ", $_), "\n" for @e;
' "$work" <"$work/graph"
try "pairs" "$apps/dag_file" --nodes 40000 --memory 8M "$work/graph2" \
  "$work/pairs"
try "lines" "$apps/dag_file" --nodes 40000 --memory 8M --text "$work/graph3" \
  "$work/lines"
[ "$(value edges)" = "$edges" ] || fail "lines: not all edges"
for graph in "$work/graph2" "$work/graph3"; do
  longest "$graph"
  [ "$(value sum)" = "$sum" ] || fail "$graph: another sum"
done
: >"$work/empty"
try "no edges" "$apps/dag_file" "$work/graph2" "$work/empty"
modes "no nodes" "$work/graph2"
echo "3 3" >"$work/lines"
refuse "loop" "larger number" "$apps/dag_file" --text "$work/graph2" \
  "$work/lines"
echo "3 x" >"$work/lines"
refuse "no number" "two numbers" "$apps/dag_file" --text "$work/graph2" \
  "$work/lines"
refuse "half an edge" "multiple" "$apps/dag_file" "$work/graph2" "$work/lines"
refuse "not a graph" "dag_file" "$apps/circuit" "$work/pairs"
head -c 100000 "$work/graph" >"$work/graph2"
refuse "half a graph" "not complete" "$apps/circuit" "$work/graph2"
refuse "no file" "No such" "$apps/circuit" "$work/nothing"

# --- Debian's packages --------------------------------------------------------

if ! "$perl" "$top/apps/deb_graph" --names "$work/names" >"$work/lines" \
  2>"$work/err"; then
  echo "SKIP Debian's packages: $(cat "$work/err")"
else
  cp "$work/err" "$work/out"
  layers=$(value layers)
  try "packages" "$apps/dag_file" --text --nodes "$(wc -l <"$work/names")" \
    "$work/graph" "$work/lines"
  [ "$(value layers)" = "$layers" ] || fail "packages: not $layers layers"
  modes "packages" --memory 8M "$work/graph"
fi
# Circles: a needs b, b needs c, c needs a; and d needs what is not there.
printf 'Package: %s\nDepends: %s\n\n' a 'b (>= 1), x' b 'y | c' c 'a:any, b' \
  d 'x' >"$work/list"
try "circles" "$perl" "$top/apps/deb_graph" --names "$work/names" "$work/list"
[ "$(tr '\n' ' ' <"$work/names")" = "c d b a " ] || fail "circles: the order"
[ "$(tr '\n' , <"$work/out")" = "0 2,2 3," ] || fail "circles: the edges"
grep -q 'edges=2 layers=3 dropped=2' "$work/err" || fail "circles: the circles"

# --- more than memory ---------------------------------------------------------

cgroup="${SHELL:-sh} $top/tests/bench/cgroup.sh"
# shellcheck disable=SC2086
$cgroup 64M true 2>"$work/err"
if [ $? -eq 77 ]; then
  echo "SKIP out of core: $(cat "$work/err")"
else
  sum=
  for mode in sequential limit bulk; do
    # shellcheck disable=SC2086
    try "out of core, $mode" $cgroup 32M "$apps/longest_path" --mode $mode \
      --memory 16M --disk "$work/disk" --threads 2 --nodes 3000000 \
      --layers 12 --reach 12
    grep -q 'oom_kills=0' "$work/err" || fail "$title: killed"
    at_least waiting 4500000
    at_least bytes_written 64000000
    [ "${sum:-$(value sum)}" = "$(value sum)" ] || fail "$title: another sum"
    sum=$(value sum)
  done
fi

# --- inducing -----------------------------------------------------------------

# induce TEXT OPTION...: in all modes, from its suffix array.
induce() {
  text=$1
  shift
  try "$text: sort" "$apps/suffix_array" --memory 16M --disk "$work/disk" \
    "$text" "$work/sorted"
  for mode in sequential limit bulk; do
    rm -f "$work/array"
    try "$text: induce, $mode" "$apps/induce" --mode $mode --check \
      --disk "$work/disk" "$@" "$text" "$work/sorted" "$work/array"
    cmp -s "$work/array" "$work/sorted" || fail "$title: wrong"
  done
}
# shellcheck disable=SC2016
"$perl" -e '
  my ($directory) = @ARGV;
  sub put { my ($name, $text) = @_; open my $f, ">", "$directory/$name" or die;
            binmode $f; print $f $text; close $f; }
  my ($x, $y) = ("b", "a");
  ($x, $y) = ($y, $y . $x) for 1 .. 14;
  put("banana", "banana");
  put("one", "x");
  put("zeros", "\0" x 301);
  put("fibonacci", $y);
  put("runs", "a" x 100 . "b" x 99 . "a" x 98 . "c" x 77 . "\377" x 30);
  put("square", "\377\0\1" x 99 . "\377\0\1" x 99);
  put("descending", join "", map { chr } reverse 0 .. 255);
  put("ascending", join "", map { chr } 0 .. 255);
  srand 5;
  put("binary", join "", map { chr int rand 256 } 1 .. 3000);
  put("bits", join "", map { chr int rand 2 } 1 .. 3001);
' "$work/text"
for text in "$work"/text/*; do
  induce "$text" --memory 32M
done
text=$work/text/real
find /usr/include /usr/share/doc /usr/share/man -type f 2>/dev/null | sort |
  xargs cat 2>/dev/null | head -c 700000 >"$text"
[ "$(wc -c <"$text")" -eq 700000 ] ||
  cat "$apps"/* | head -c 700000 >"$text"
induce "$text" --memory 16M --threads 2
# Only the order of LMS suffixes counts: the others may come in any.
# shellcheck disable=SC2016
"$perl" -e '
  undef $/;
  my ($text, $sorted) = map { open my $f, "<", $_ or die; binmode $f; <$f> }
    @ARGV;
  my @t = (unpack("C*", $text), -1);
  my @s;
  $s[$#t] = 1;
  $s[$_] = $t[$_] < $t[$_ + 1] || $t[$_] == $t[$_ + 1] && $s[$_ + 1]
    for reverse 0 .. $#t - 1;
  my @p = map { (unpack "LC")[0] } unpack "(a5)*", $sorted;
  my @lms = grep { $_ && $s[$_] && !$s[$_ - 1] } @p;
  my @rest = grep { !($_ && $s[$_] && !$s[$_ - 1]) } 0 .. $#t - 1;
  print pack "LC", $_, 0 for @lms, @rest;
' "$text" "$work/sorted" >"$work/lms"
cmp -s "$work/lms" "$work/sorted" && fail "all suffixes were LMS"
try "induce from LMS" "$apps/induce" --memory 32M --check "$text" \
  "$work/lms" "$work/array"
cmp -s "$work/array" "$work/sorted" || fail "induce from LMS: wrong"
head -c 5000 "$work/sorted" >"$work/lms"
refuse "half an array" "not as many" "$apps/induce" "$text" "$work/lms" \
  "$work/array"
head -c 3500000 /dev/zero >"$work/lms"
refuse "no array" "not a suffix array" "$apps/induce" "$text" "$work/lms" \
  "$work/array"
refuse "nothing" "no suffixes" "$apps/induce" "$work/empty" "$work/empty" \
  "$work/array"

# --- a queue in each rank -----------------------------------------------------

graph="--nodes 200000 --layers 20 --reach 20"
# shellcheck disable=SC2086
try "one queue" "$apps/longest_path" $graph
sum=$(value sum)
# ranks WHAT COMMAND...: the same sum.
ranks() {
  what=$1
  shift
  # shellcheck disable=SC2086
  try "$what" "$@" $graph --block 20000 --memory 1M --disk "$work/disk"
  [ "$(value sum)" = "$sum" ] || fail "$what: another sum"
  at_least messages 700000
  at_least waiting 300000
}
if ! pemscc -O2 -I"$top/include" -o "$work/cgm" \
  "$top/apps/cgm_longest_path.c" "$top/apps/dag.c" "$top/apps/settings.c" \
  >"$work/out" 2>"$work/err"; then
  fail "pemscc"
else
  ranks "ranks on pems" pemsrun -n 16 --pems-k=2 "$work/cgm"
  at_least bytes_written 1000000
  ranks "ranks on pems, two processes" pemsrun -n 16 --pems-k=2 \
    --pems-procs=2 "$work/cgm"
  ranks "ranks evicted always" env PEMS_TEST_EVICT_ALWAYS=1 \
    pemsrun -n 16 --pems-k=1 "$work/cgm"
fi

# The library within ranks: each does the whole, which visits in bulk by threads
# of the library that read and write the rank's memory.
cat >"$work/whole.c" <<'END'
#include <mpi.h>
int app_main(int argc, char **argv);
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int status = app_main(argc, argv);
  MPI_Finalize();
  return status;
}
END
if ! pemscc -O2 -Dmain=app_main -I"$top/include" -c -o "$work/whole.o" \
  "$top/apps/longest_path.c" >"$work/out" 2>"$work/err" ||
  ! pemscc -O2 -I"$top/include" -o "$work/whole" "$work/whole.c" \
    "$work/whole.o" "$top/apps/tfp_job.c" "$top/apps/dag.c" \
    "$top/apps/settings.c" >"$work/out" 2>"$work/err"; then
  fail "pemscc of a program within ranks"
else
  # shellcheck disable=SC2086
  try "within ranks" env PEMS_TEST_EVICT_ALWAYS=1 pemsrun -n 4 --pems-k=2 \
    "$work/whole" $graph --mode bulk --threads 2 --memory 8M
  [ "$(grep -c "sum=$sum" "$work/out")" -eq 4 ] ||
    fail "within ranks: another sum"
fi
ranks "ranks by mpirun" "${MPIRUN:-mpirun}" -n 4 \
  "$apps/cgm_longest_path"

[ $status -ne 0 ] || echo "PASS"
exit $status
