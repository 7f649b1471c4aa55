#!/bin/sh
# Graphs whose edges are beyond memory: pems-graph in a cgroup that a fifth of the
# file fits in finds what it finds with all edges in memory, and chooses by itself
# to leave them in the file.
# shellcheck source=tests/em/apps_lib.sh
. "$(dirname "$0")/../em/apps_lib.sh"
memory=32M
cd "$work" || exit 1

# outside WHAT COMMAND...: in the cgroup; status 77 where there can be none.
outside() {
  title="$1 in $memory"
  shift
  limited sh "$top/tests/bench/cgroup.sh" $memory pems-graph "$@" >out 2>err
  got=$?
  if [ $got -eq 77 ]; then
    echo "SKIP external: $(tail -n 1 err)"
    exit 77
  fi
  [ $got -eq 0 ] || fail "$title: status $got"
  grep -q ' mode=semi-external ' out || fail "$title: not semi-external"
  grep -q ' oom_kills=0' err || fail "$title: was killed"
}

try "a graph" pems-graph generate uniform --nodes 200000 --edges 22000000 \
  --weights 0:1000 -o large.csr
[ "$(wc -c <large.csr)" -ge $((5 * 32 * 1024 * 1024)) ] ||
  fail "the graph has not five times the memory"
for command in sssp bfs; do
  outside $command $command --parents large.csr -o outside.bin
  at_least bytes_read 176000000
  try "$command" pems-graph $command --parents large.csr -o inside.bin
  grep -q ' mode=' out && fail "$command: not in memory where there is enough"
  cmp -s inside.bin outside.bin || fail "$command: not the same in $memory"
done
try "sssp, verified" pems-graph sssp --verify large.csr
outside mst mst large.csr -o outside.csv --disk "$work/disk"
weight=$(value weight)
awk -F, 'NR > 1 { sum += $3; n++ } END { printf "%d %d\n", n, sum }' \
  outside.csv >sum
try "mst" pems-graph mst large.csr
[ "$(value weight)" = "$weight" ] || fail "mst: weight $weight in $memory"
[ "$(cat sum)" = "199999 $weight" ] || fail "mst: edges: $(cat sum)"
outside pagerank pagerank large.csr --error 0.001
at_least rounds 3
at_least bytes_read $(($(value rounds) * 176000000))
# What does not fit for its nodes is told before anything is read.
refuse "nodes" '--memory: 10485760 bytes: 200000 nodes need [0-9]*M: give' \
  pems-graph sssp --memory 10M large.csr
[ $status -ne 0 ] || echo "PASS external"
exit $status
