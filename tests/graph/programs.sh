#!/bin/sh
# What pems-graph computes: each with each scheduler, on graphs of all kinds, by 1, 2
# and 8 threads, against sequential algorithms; small graphs of odd shapes; what
# they print; a limit of memory; and what they refuse.
# shellcheck source=tests/em/apps_lib.sh
. "$(dirname "$0")/../em/apps_lib.sh"
schedulers='pmod obim multiqueue reld spraylist'

# right WHAT PROGRAM OPTION...: it finds what the reference does.
right() {
  what=$1
  program=$2
  shift 2
  try "$program, $what" pems-graph "$program" --verify "$@"
  [ "$(value verified)" = 1 ] || fail "$title: not verified"
}

# everywhere WHAT PROGRAM OPTION...: with each scheduler and 1, 2 and 8 threads.
everywhere() {
  name="$1"
  of=$2
  shift 2
  for sched in $schedulers; do
    for threads in 1 2 8; do
      right "$name, $sched, $threads threads" "$of" --sched "$sched" \
        --threads "$threads" "$@"
    done
  done
}

# --- graphs made up ----------------------------------------------------------

for graph in road:nodes=20000 rmat:scale=12,factor=8,undirected=1 \
  uniform:nodes=10000,arcs=40000; do
  for program in sssp bfs pagerank mst; do
    everywhere "$graph" $program --generate $graph
  done
done
everywhere "road" astar --generate road:nodes=20000 --queries 3

# What needs no other scheduler: options of one, other seeds.
for delta in 0 5 14 63; do
  right "delta $delta" sssp --sched obim --delta $delta --threads 2 \
    --generate road:nodes=20000,seed=$delta
  right "delta $delta" astar --sched obim --delta $delta --threads 2 \
    --generate road:nodes=20000,seed=2 --seed $delta
done
for chunk in 1 2 500; do
  right "chunk $chunk" sssp --chunk $chunk --threads 2 --domains 2 \
    --generate uniform:nodes=20000
  right "chunk $chunk" mst --sched pmod --chunk $chunk --threads 3 \
    --generate uniform:nodes=20000
done
right "queues" bfs --sched multiqueue --queues 1 --generate rmat:scale=13
for program in sssp bfs mst pagerank; do
  everywhere "parts" $program --generate uniform:nodes=5000,arcs=3500,seed=4
  right "both ways" $program --generate uniform:nodes=5000,undirected=1
done
for program in sssp mst; do
  right "weights of 0 and 1" $program --threads 2 \
    --generate uniform:nodes=20000,least=0,most=1
  right "large weights" $program --threads 2 \
    --generate uniform:nodes=20000,least=4000000000,most=4294967295
done
right "detailed" pagerank --sched pmod --detailed --threads 2 \
  --generate rmat:scale=12
right "finer" pagerank --sched pmod --epsilon 1e-6 --threads 2 \
  --generate rmat:scale=10
right "coarse" pagerank --sched pmod --epsilon 1e9 --generate rmat:scale=10
# Without --sched ranks and trees are swept.
for graph in road:nodes=20000 rmat:scale=12,factor=8,undirected=1 \
  rmat:scale=12,permute=1 uniform:nodes=5000,arcs=3500,seed=4; do
  right "swept, $graph" pagerank --threads 2 --repeat 2 --generate $graph
  right "swept, $graph" mst --repeat 2 --generate $graph
  right "swept finely, $graph" pagerank --error 1e-10 --threads 3 --generate $graph
  [ "$(value normalized)$(value sum)" = 11 ] || fail "$title: sum $(value sum)"
done
# Nodes that lead nowhere are what makes normalized ranks differ.
for graph in uniform:nodes=5000,arcs=3500,seed=4 rmat:scale=10; do
  everywhere "normalized" pagerank --normalize --epsilon 1e-4 --generate $graph
  [ "$(value normalized)$(value sum)" = 11 ] || fail "$title: sum $(value sum)"
done
right "another source" sssp --source 7 --generate road:nodes=5000
[ "$(value source)" = 7 ] || fail "$title: began elsewhere"
right "another source" bfs --source 0 --generate road:nodes=5000
right "to itself" astar --source 9 --target 9 --generate road:nodes=5000
[ "$(value sum)" = 0 ] || fail "$title: not 0"
right "there" astar --source 9 --target 4000 --generate road:nodes=5000
there=$(value sum)
right "and back" astar --source 4000 --target 9 --generate road:nodes=5000
[ "$(value sum)" = "$there" ] || fail "$title: another way"

# --- graphs in files ---------------------------------------------------------

# shape NAME NODES EDGE...: an edge is from-to-weight, from 1; in a line, so that
# there are lengths for A* (and the last two nodes are in one place).
shape() {
  file=$work/$1.gr
  nodes=$2
  shift 2
  {
    echo "p sp $nodes $#"
    for edge; do
      echo "a $edge" | tr - ' '
    done
  } >"$file"
  {
    echo "p aux sp co $nodes"
    for node in $(seq "$nodes"); do
      echo "v $node $((node < nodes || node == 1 ? node : node - 1)) 0"
    done
  } >"${file%.gr}.co"
  for program in sssp bfs pagerank mst astar; do
    for threads in 1 2; do
      for sched in $schedulers; do
        right "$(basename "$file"), $sched, $threads threads" $program \
          --sched "$sched" --threads $threads "$file"
      done
    done
  done
}

shape one_node 1
shape no_edges 5
shape loops 2 1-1-0 1-1-5 2-2-3
shape parallel 2 1-2-5 1-2-3 2-1-9 1-2-3
shape zeros 4 1-2-0 2-3-0 3-1-0 3-4-0
shape parts 6 1-2-1 2-1-1 4-5-7 5-4-7 5-6-2
shape one_way 4 4-3-1 3-2-1 2-1-1
right "no path" astar --source 0 --target 3 "$work/one_way.gr"
[ "$(value found)" = 0 ] || fail "$title: found one"
# Steps that are exactly as long as the line: a guess that is any larger drops
# the better way.
shape straight 12 1-6-50 6-11-50 1-11-105
right "as the crow flies" astar --source 0 --target 10 \
  "$work/straight.gr"
[ "$(value sum)" = 100 ] || fail "$title: another way"

# --- what is printed ---------------------------------------------------------

right "repetitions" sssp --repeat 5 --threads 2 --generate road:nodes=5000
[ "$(grep -c '^RESULT' "$work/out")" = 5 ] || fail "$title: not 5"
grep -q '^SUMMARY .* best_seconds=[0-9.]* median_seconds=' "$work/out" ||
  fail "$title: no summary"
for program in sssp bfs mst; do
  right "in order" $program --sched multiqueue --queues 1 --threads 1 \
    --generate uniform:nodes=5000
  case $program in
  sssp) most=2 ;; # and the useless ones
  *) most=1.0000 ;;
  esac
  awk "BEGIN { exit !($(value work_ratio) >= 1 && \
    $(value work_ratio) <= $most) }" || fail "$title: work_ratio"
done
for sched in $schedulers; do
  right "measured, $sched" sssp --sched "$sched" --threads 2 --measure --rank \
    --generate road:nodes=20000
  percent=0
  for part in good_work useless_work enqueue dequeue failed_dequeue other; do
    percent="$percent + $(value ${part}_percent)"
  done
  awk "BEGIN { exit !($percent > 99.9 && $percent < 100.1) }" ||
    fail "$title: $percent is not 100"
  awk "BEGIN { exit !($(value rank_mean) >= 0 && $(value inverted) < 1) }" ||
    fail "$title: no rank"
done
right "lmf" sssp --threads 1 --measure --generate road:nodes=20000
case $(value lmf_sequence) in
0-*) ;;
*) fail "$title: lmf_sequence=$(value lmf_sequence)" ;;
esac

# --- a limit of memory -------------------------------------------------------

right "little memory" bfs --threads 2 --task-memory 2M --disk "$work/disk" \
  --generate uniform:nodes=400000,arcs=3000000
at_least spilled 1
at_least bytes_written 1
[ "$(value spilled)" = "$(value fetched)" ] || fail "$title: not all came back"
right "enough memory" bfs --threads 2 --task-memory 256M --disk "$work/disk" \
  --generate uniform:nodes=40000
[ "$(value spilled)" = 0 ] || fail "$title: spilled"

# --- what is refused ---------------------------------------------------------

refuse "no graph" "give GRAPH" pems-graph sssp
refuse "two graphs" "there are two" pems-graph sssp x --generate road
refuse "no file" "$work/nothing.gr" pems-graph sssp "$work/nothing.gr"
refuse "no kind of graph" "give road, rmat" pems-graph sssp --generate street
refuse "no option of graphs" "no such option" pems-graph sssp --generate road:arcs=5
refuse "no number" "give a number" pems-graph sssp --generate road:degree=x
refuse "part of a node" "whole number" pems-graph sssp --generate road:nodes=1.5
refuse "no nodes" "from 1" pems-graph sssp --generate uniform:nodes=0
refuse "no scheduler" "magic: no such kind" pems-graph sssp --generate road \
  --sched magic
refuse "threads" "threads: 5000" pems-graph sssp --generate road --threads 5000
refuse "chunk" "chunk: 4097" pems-graph sssp --generate road --chunk 4097
refuse "delta" "give 0 to 63" pems-graph sssp --generate road --delta 64
refuse "delta" "give 0 to 63" pems-graph sssp --generate road --delta 99999999999
refuse "memory" "are needed" pems-graph sssp --generate road --task-memory 1K
refuse "memory" "use pmod" pems-graph sssp --generate road --task-memory 9M --sched obim
refuse "memory" "65536 nodes and 1048576 edges need more than 25M: give that" \
  pems-graph mst --memory 25M --generate rmat:scale=16
refuse "disk" "$work/nowhere" pems-graph sssp --generate road --task-memory 9M \
  --disk "$work/nowhere"
refuse "repeat" "repeat: 0" pems-graph sssp --generate road --repeat 0
refuse "option" "unknown" pems-graph sssp --generate road --queries 3
refuse "word" "one word too many" pems-graph sssp x road
refuse "source" "nodes 0 to" pems-graph sssp --generate uniform:nodes=9 --source 9
refuse "source" "nodes 0 to" pems-graph bfs --generate uniform:nodes=9 \
  --source 9
refuse "target" "nodes 0 to" pems-graph astar --generate road --target 99999999
refuse "queries" "queries: 0" pems-graph astar --generate road --queries 0
refuse "no places" "no coordinates" pems-graph astar --generate rmat:scale=3
for number in 0 -1 x 1x nan inf ''; do
  refuse "epsilon" "number above 0" pems-graph pagerank --sched pmod \
    --generate rmat:scale=3 --epsilon "$number"
  refuse "error" "number from 1e-12" pems-graph pagerank \
    --generate rmat:scale=3 --error "$number"
done
refuse "error" "number from 1e-12" pems-graph pagerank \
  --generate rmat:scale=3 --error 1e-13
refuse "error of tasks" "leave out --sched" pems-graph pagerank --sched pmod \
  --generate rmat:scale=3 --error 1e-3
for option in '--epsilon 1' --detailed '--chunk 9' '--delta 1' --measure --rank \
  '--domains 2' '--queues 2' '--task-memory 9M'; do
  # shellcheck disable=SC2086 # words
  refuse "$option" "^pems: ${option%% *}: .* give --sched" pems-graph pagerank \
    --generate rmat:scale=3 $option
done
for program in sssp bfs astar pagerank mst; do
  try "help of $program" pems-graph "$program" --help
  grep -q -- '--verify' "$work/out" || fail "$title: says nothing"
done
exit $status
