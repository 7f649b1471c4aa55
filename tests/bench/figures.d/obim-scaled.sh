# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 10'
what='obim: speedup over one thread against Delta, weights divided by 64'
saw='The best Delta is 8 instead of 14: it depends on the range of priorities, not on the graph.'
shape='the largest Delta is slower than the best one'
why='Weights of made-up roads; with 2 cores few tasks of a priority are enough.'
axes='Delta;speedup;panels'
measure() {
  for graph in west road; do
    nodes=$(case_graph $graph)
    "$(program pems-graph)" generate road --nodes "${nodes##*=}" -o "$scratch/whole.gr" \
      >"$scratch/log" || return 1
    awk '$1 == "a" { $4 = int($4 / 64) + 1 } { print }' "$scratch/whole.gr" >"$scratch/$graph.gr"
    "$(program pems-graph)" convert "$scratch/$graph.gr" "$scratch/$graph.csr" >"$scratch/log" ||
      return 1
    deltas "$scratch/$graph.csr" sssp | sed "s,^sssp/,$graph/,"
    rm -f "$scratch"/*.gr
  done
}
check_shape() {
  awk -v s="road/$cores-threads" '$1 == s { n++; last = $3; if ($3 > best) best = $3 }
    END { exit !(n > 2 && last < best) }' "$dat"
}
