# shellcheck shell=sh disable=SC2034
paper='2019, Table 5'
what='Each scheduler beside the best one of each program, all cores (1 is the best)'
saw='Geometric means: pmod 0.93, tuned obim 0.89, obim as it comes 0.55, reld 0.35, multiqueue
0.34, spraylist 0.18.'
shape='pmod has the best geometric mean, or at least 0.85 of it'
axes='case (road-sssp, rmat-sssp, road-bfs, rmat-bfs, rmat-pagerank, road-mst);best time / time'
measure() {
  road=road:nodes=$(size 100000 8000000) rmat=rmat:scale=$(size 13 21)
  i=0
  for case in "sssp $road" "sssp $rmat" "bfs $road" "bfs $rmat" "pagerank $rmat" "mst $road"; do
    i=$((i + 1))
    for each in pmod obim:0 obim:8 obim:14 multiqueue reld spraylist; do
      scheduled "${case%% *}" "${case#* }" $each --threads "$cores" || return 1
      point "$each" $i seconds
    done
  done >"$scratch/times"
  awk '{ if (!($2 in best) || $3 < best[$2]) best[$2] = $3; s[NR] = $1; i[NR] = $2; t[NR] = $3 }
    END { for (n = 1; n <= NR; n++) print s[n], i[n], best[i[n]] / t[n] }' "$scratch/times"
}
check_shape() {
  awk '!/^#/ { n[$1]++; sum[$1] += log($3) }
    END { for (s in n) { g[s] = exp(sum[s] / n[s]); if (g[s] > most) most = g[s] }
      exit !(g["pmod"] >= 0.85 * most) }' "$dat"
}
