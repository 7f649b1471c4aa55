# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 7'
what='Cycles for an enqueue and a dequeue, all cores, beside obim (tuned)'
saw='Those of obim are orders of magnitude cheaper than those of the others, of which spraylist is worst.'
shape='an enqueue of spraylist takes at least twice the cycles of one of obim, on the geometric mean'
why='2 cores instead of 40: a lock or a cache line is seldom waited for.'
axes='case;cycles / cycles of obim;panels beside logy'
measure() {
  for case in $graph_cases; do
    case $case in
      sssp-road | astar-*) schemes='obim-O multiqueue reld spraylist' ;;
      *) schemes='obim multiqueue reld spraylist' ;;
    esac
    for scheme in $schemes; do
      run_case "$case" "$scheme" --threads "$cores" --measure || return 1
      for operation in enqueue dequeue; do
        echo "$operation $scheme $case $(value cycles_per_$operation <"$scratch/log")"
      done
    done
  done >"$scratch/cycles"
  awk '$2 ~ /^obim/ { base[$1, $3] = $4; next }
    { printf "%s/%s %s %.3g\n", $1, $2, $3, $4 / base[$1, $3] }' "$scratch/cycles"
}
see() {
  awk '!/^#/ && $3 > 0 { n[$1]++; sum[$1] += log($3) }
    END { for (s in n) printf "%s %.1f times; ", s, exp(sum[s] / n[s]); print "geometric means" }' "$dat"
}
check_shape() {
  awk '$1 == "enqueue/spraylist" && $3 > 0 { n++; sum += log($3) } END { exit !(n && exp(sum / n) >= 2) }' "$dat"
}
