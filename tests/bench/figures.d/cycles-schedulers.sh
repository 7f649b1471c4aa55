# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 6, 7 and 14'
what='Where cycles go, by scheduler: shortest paths on a road-like graph, all cores'
saw='obim spends most cycles on good work if it is tuned; with a Delta too small on dequeuing and failing to; multiqueue and spraylist on the queues.'
shape='pmod spends a greater share on good work than spraylist'
axes='scheduler (pmod, obim 8, obim 14, multiqueue, reld, spraylist);% of cycles'
measure() {
  i=0
  for each in pmod obim:8 obim:14 multiqueue reld spraylist; do
    i=$((i + 1))
    scheduled sssp "road:nodes=$(size 200000 8000000)" $each --threads "$cores" \
      --measure || return 1
    cycles $i
  done
}
check_shape() {
  awk '$1 == "good" { y[$2] = $3 } END { exit !(y[1] > y[6]) }' "$dat"
}
