# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 9 and 12'
what='Where cycles go, by Delta of obim: shortest paths on a road-like graph, all cores'
saw='With Delta too small nearly all cycles are dequeuing, also in vain; with one too large work is useless.'
shape='the largest Delta has a greater share of useless work than the smallest'
axes='Delta;% of cycles'
measure() {
  for delta in $(size '0 8 16' '6 8 10 12 14 16 18 20'); do
    scheduled sssp "road:nodes=$(size 200000 8000000)" "obim:$delta" \
      --threads "$cores" --measure || return 1
    cycles "$delta"
  done
}
check_shape() {
  awk '$1 == "useless" { if (!n++) first = $3; last = $3 } END { exit !(n > 1 && last > first) }' "$dat"
}
