# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 9 and 12'
what='Where cycles go, by Delta of obim: shortest paths on a road-like graph, all cores'
saw='With Delta too small nearly all cycles are dequeuing, also in vain; with one too large work is useless.'
shape='the largest Delta has a greater share of useless work than the smallest'
axes='Delta;% of cycles'
measure() {
  for delta in $(size '0 8 16' '6 8 10 12 14 16 18 20'); do
    bench apps/graph/sssp --generate "road:nodes=$(size 200000 8000000)" --sched obim \
      --delta "$delta" --threads "$cores" --measure || return 1
    at=$delta
    point good "$at" good_work_percent
    point useless "$at" useless_work_percent
    point enqueue "$at" enqueue_percent
    point dequeue "$at" dequeue_percent
    point failed-dequeue "$at" failed_dequeue_percent
  done
}
check_shape() {
  awk '$1 == "useless" { if (!n++) first = $3; last = $3 } END { exit !(n > 1 && last > first) }' "$dat"
}
