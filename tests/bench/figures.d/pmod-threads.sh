# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 5 and 6'
what='Shortest paths on a road-like graph: schedulers against threads'
saw='pmod is within a few percent of the best tuned obim, and far before multiqueue and
spraylist, without tuning.'
shape='pmod takes at most 1.5 times as long as the fastest other scheduler'
axes='threads;seconds'
measure() {
  sssp=$(program apps/graph/sssp)
  nodes=$(size 200000 24000000)
  most=$(nproc)
  for sched in pmod obim multiqueue reld spraylist; do
    threads=1
    while [ $threads -le "$most" ]; do
      began=$(date +%s%N)
      "$sssp" --generate "road:nodes=$nodes" --sched $sched --threads $threads \
        >"$out/$name.log" 2>&1 || return 1
      seconds=$(sed -n 's/.* seconds=\([0-9.]*\).*/\1/p' "$out/$name.log" | head -n 1)
      [ -n "$seconds" ] ||
        seconds=$(awk -v ns=$(($(date +%s%N) - began)) 'BEGIN { print ns / 1e9 }')
      echo "$sched $threads $seconds"
      threads=$((threads * 2))
    done
  done
  rm -f "$out/$name.log"
}
check_shape() {
  awk '!/^#/ { if (!($1 in m) || $3 < m[$1]) m[$1] = $3 }
    END { best = 1e9; for (s in m) if (s != "pmod" && m[s] < best) best = m[s]
      exit !(m["pmod"] > 0 && m["pmod"] <= 1.5 * best) }' "$dat"
}
