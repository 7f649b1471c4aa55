# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 6 and 14'
what='Where cycles go, all cores, as a share of those of obim (tuned)'
saw='obim spends most cycles on good work if it is tuned; with a Delta too small on dequeuing and failing
to; pmod is like tuned obim; the others spend 50 to 90 % on their queues.'
shape='pmod spends a greater share on good work than spraylist in 9 of the 12 cases'
why='2 cores instead of 40: fewer cache lines travel, so that the queues of the others cost less. On a
busy machine a thread that has to wait for its core counts as one without work.'
axes='scheduler;% of the cycles of obim;panels stacked'
measure() {
  for case in $graph_cases; do
    case $case in
      sssp-road | astar-*) first=obim-O ;;
      *) first=obim ;;
    esac
    run_case "$case" $first --threads "$cores" --measure || return 1
    base=$(value seconds <"$scratch/log")
    cycles $first "$case/" 1
    for scheme in $(case_schemes "$case"); do
      [ "$scheme" != $first ] || continue
      run_case "$case" "$scheme" --threads "$cores" --measure || return 1
      cycles "$scheme" "$case/" "$(value seconds <"$scratch/log") / $base"
    done
  done
}
see() {
  awk '!/^#/ { split($1, a, "/"); all[$2] += $3; if (a[2] == "good") good[$2] += $3 }
    END { for (s in all) printf "%s %.0f %%; ", s, 100 * good[s] / all[s]
      print "good work of all its cycles" }' "$dat"
}
check_shape() {
  awk '!/^#/ { split($1, a, "/"); all[a[1], $2] += $3; seen[a[1]] = 1
      if (a[2] == "good") good[a[1], $2] = $3 }
    END { for (c in seen) { n++
        if (good[c, "pmod"] / all[c, "pmod"] > good[c, "spraylist"] / all[c, "spraylist"]) better++ }
      exit !(n == 12 && better >= 9) }' "$dat"
}
