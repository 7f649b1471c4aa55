# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 11'
what='obim: time against tasks in a chunk'
saw='Chunks of 64 are best with the right Delta, of 16 with one too small; without chunks it is
2 to 3 times slower.'
shape='chunks of 64 take at most as long as chunks of 1'
axes='tasks in a chunk;seconds;logx'
measure() {
  graph=road:nodes=$(size 200000 8000000)
  for chunk in $(size '1 16 64 256' '1 4 16 32 64 128 256'); do
    for each in sssp:10 sssp:14 bfs:0; do
      scheduled ${each%:*} "$graph" "obim:${each#*:}" --chunk "$chunk" \
        --threads "$cores" || return 1
      point "${each%:0}" "$chunk" seconds
    done
  done
}
check_shape() {
  awk '$1 == "sssp:14" { y[$2] = $3 } END { exit !(y[64] > 0 && y[64] <= y[1]) }' "$dat"
}
