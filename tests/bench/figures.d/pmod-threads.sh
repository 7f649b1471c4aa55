# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 5 and 13'
what='Shortest paths on a road-like graph: schedulers against threads'
saw='pmod is within a few percent of the best tuned obim, and far before multiqueue and
spraylist, without tuning.'
shape='pmod takes at most 1.5 times as long as the fastest other scheduler'
axes='threads;seconds'
measure() {
  for each in pmod obim:8 obim:14 multiqueue reld spraylist; do
    threads=1
    while [ $threads -le "$cores" ]; do
      scheduled sssp "road:nodes=$(size 200000 24000000)" $each \
        --threads $threads || return 1
      point "$each" $threads seconds
      threads=$((threads * 2))
    done
  done
}
check_shape() {
  awk '!/^#/ { if (!($1 in m) || $3 < m[$1]) m[$1] = $3 }
    END { best = 1e9; for (s in m) if (s != "pmod" && m[s] < best) best = m[s]
      exit !(m["pmod"] > 0 && m["pmod"] <= 1.5 * best) }' "$dat"
}
