# shellcheck shell=sh disable=SC2034
paper='2019, Table 5'
what='Geometric means over the graph programs, all cores: beside the best scheduler of each, and speedups'
saw='pmod 0.93 of the best, tuned obim 0.89, obim as it comes 0.55, reld 0.35, multiqueue 0.34, spraylist
0.18; speedups 17, 17, 10.6, 6.7, 6.5 and 3.6.'
shape='pmod has the best geometric mean, or at least 0.85 of it'
why='2 cores instead of 40: speedups are small, and the queues of the others contended little.'
axes='scheduler;geometric mean;beside'
measure() {
  # One thread for the base, all cores for the rest.
  # shellcheck disable=SC2046 # a list
  case_times $(echo "1 $cores" | tr ' ' '\n' | sort -u) >"$scratch/times" || return 1
  awk -v cores="$cores" '
    $2 ~ /^obim(-O)?$/ && $3 == 1 { base[$1] = $4 }
    $3 == cores { s[$1, $2] = $4; seen[$1] = 1; if (!($1 in best) || $4 < best[$1]) best[$1] = $4 }
    END {
      m = split("pmod obim-O obim-D reld multiqueue spraylist", scheme, " ")
      for (i = 1; i <= m; i++) {
        ratio = speedup = n = 0
        for (c in seen) {
          t = s[c, scheme[i]]
          if (!t) t = s[c, "obim"] # where Delta does not matter
          ratio += log(best[c] / t); speedup += log(base[c] / t); n++
        }
        printf "of-the-best %s %.3g\n", scheme[i], exp(ratio / n)
        printf "speedup %s %.3g\n", scheme[i], exp(speedup / n)
      }
    }' "$scratch/times"
}
see() {
  awk '!/^#/ { y[$1] = y[$1] " " $2 " " $3 ";" } END { for (s in y) printf "%s:%s ", s, y[s]; print "" }' "$dat"
}
check_shape() {
  awk '$1 == "of-the-best" { g[$2] = $3; if ($3 > most) most = $3 } END { exit !(g["pmod"] > 0 && g["pmod"] >= 0.85 * most) }' "$dat"
}
