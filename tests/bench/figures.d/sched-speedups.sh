# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 5 and 13'
what='Graph programs: speedup over obim with one thread (tuned, where Delta matters)'
saw='obim, tuned where that matters, is fastest or nearly so, pmod within a few percent of it without
tuning; obim as it comes fails on road graphs; multiqueue and reld are between, spraylist is last.'
shape='with all cores pmod has at least 0.7 of the best speedup in 9 of the 12 cases'
why='2 cores instead of 40, and graphs made up of the same kinds, which are smaller: the queues are
contended less, so that the others fall behind less. A thread that has to wait for
its core, as on a busy machine, holds up those with few queues more.'
axes='threads;speedup;panels'
measure() {
  # shellcheck disable=SC2046 # a list
  case_times $(thread_counts) >"$scratch/times" || return 1
  awk '{ tuned = $2 == "obim-O" || ($2 == "obim" && !($1 in base)) }
    tuned && $3 == 1 { base[$1] = $4 }
    { case_[NR] = $1; scheme[NR] = $2; threads[NR] = $3; s[NR] = $4 }
    END { for (i = 1; i <= NR; i++)
      printf "%s/%s %d %.3g\n", case_[i], scheme[i], threads[i], base[case_[i]] / s[i] }' \
    "$scratch/times"
}
see() {
  awk -v cores="$cores" '!/^#/ && $2 == cores { split($1, a, "/"); y[a[1], a[2]] = $3; seen[a[1]] = 1
      if ($3 > most[a[1]]) { most[a[1]] = $3; best[a[1]] = a[2] } }
    END { for (c in seen) printf "%s: %s %.2f, pmod %.2f; ", c, best[c], most[c], y[c, "pmod"]; print "" }' "$dat"
}
check_shape() {
  awk -v cores="$cores" '!/^#/ && $2 == cores { split($1, a, "/"); seen[a[1]] = 1
      if ($3 > most[a[1]]) most[a[1]] = $3
      if (a[2] == "pmod") pmod[a[1]] = $3 }
    END { for (c in seen) { n++; if (pmod[c] >= 0.7 * most[c]) good++ } exit !(n == 12 && good >= 9) }' "$dat"
}
