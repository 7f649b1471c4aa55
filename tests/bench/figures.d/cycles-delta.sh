# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 9'
what='Where cycles go, by Delta of obim: a road-like graph, all cores'
saw='With Delta too small nearly all cycles are dequeuing, also in vain; with one too large work is useless.'
shape='the largest Delta has a greater share of useless work than the smallest, and less for the queues'
why='2 cores instead of 40 seldom fail to find a task.'
axes='Delta;% of cycles;panels stacked'
measure() {
  for program in sssp astar; do
    for delta in $(size '0 8 16' '6 8 10 12 14 16 18 20'); do
      scheduled $program "$(case_graph road)" "obim:$delta" --threads "$cores" --measure ||
        return 1
      cycles "$delta" "$program/"
    done
  done
}
check_shape() {
  awk '$1 == "sssp/useless" { if (!u++) first = $3; last = $3 }
    $1 ~ /^sssp\/.*queue$/ { queues[$2] += $3; if (!($2 in at)) at[$2] = ++n }
    END { for (d in at) { if (at[d] == 1) q0 = queues[d]; if (at[d] == n) q1 = queues[d] }
      exit !(u > 1 && last > first && q1 < q0) }' "$dat"
}
