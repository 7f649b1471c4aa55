# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 11'
what='obim: speedup over one thread without chunks, against tasks in a chunk'
saw='Chunks of 64 are best with the right Delta, of 16 with one too small; without chunks it is
2 to 3 times slower.'
shape='with all cores chunks of 64 are at least as fast as chunks of 1, with Delta 14'
why='2 cores instead of 40: the lock of a bag is contended less, and chunks gain less; the best ones are the
same.'
axes='tasks in a chunk;speedup;panels logx'
measure() {
  graph=$(case_graph road)
  for each in sssp:10 sssp:14 bfs:0; do
    for chunk in $(size '1 16 64 256' '1 4 16 32 64 128 256'); do
      for threads in $(thread_counts); do
        scheduled ${each%:*} "$graph" "obim:${each#*:}" --chunk "$chunk" \
          --threads "$threads" --repeat 3 || return 1
        echo "$each $threads $chunk $(best_seconds)"
      done
    done
  done >"$scratch/times"
  awk '{ program = $1; sub(/:.*/, "", program) }
    !(program in base) { base[program] = $4 } # Delta 10, one thread, no chunks
    { panel = $1; sub(/:0$/, "", panel); sub(/:/, "-Delta-", panel)
      printf "%s/%s-threads %s %.3g\n", panel, $2, $3, base[program] / $4 }' "$scratch/times"
}
check_shape() {
  awk -v s="sssp-Delta-14/$cores-threads" '$1 == s { y[$2] = $3 } END { exit !(y[64] > 0 && y[64] >= y[1]) }' "$dat"
}
