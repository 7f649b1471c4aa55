# shellcheck shell=sh disable=SC2034
paper='2019, Table 6'
what='How pmod merges priorities: the last lmf, and how often it changed'
saw='lmf settles after 0 to 3 changes: between 0 and 3 for numbers of steps and on power-law graphs, 9 and
10 for fine page ranks, 13 and 16 on roads.'
shape='the last lmf of shortest paths on roads is greater than on the power-law graph, and nothing changes
more than 10 times'
why='Weights and sizes are those of made-up graphs; with fewer threads priorities are merged earlier.'
axes='case;lmf, changes;beside'
measure() {
  for case in $graph_cases; do
    run_case "$case" pmod --threads "$cores" --measure || return 1
    awk -v c="$case" '/^RESULT/ { for (i = 1; i <= NF; i++) { split($i, a, "="); v[a[1]] = a[2] } }
      END { m = split(v["lmf_sequence"], lmf, "-")
        print "last-lmf", c, lmf[m]; print "changes", c, v["lmf_changes"] }' "$scratch/log"
  done
}
see() {
  awk '$1 == "last-lmf" { last[$2] = $3; order[++n] = $2 } $1 == "changes" { changes[$2] = $3 }
    END { for (i = 1; i <= n; i++) printf "%s %d (%d); ", order[i], last[order[i]], changes[order[i]]
      print "the last lmf (changes)" }' "$dat"
}
check_shape() {
  awk '$1 == "last-lmf" { y[$2] = $3 } $1 == "changes" && $3 > 10 { many = 1 }
    END { exit !(!many && y["sssp-road"] > y["sssp-rmat"]) }' "$dat"
}
