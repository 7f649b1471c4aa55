# shellcheck shell=sh disable=SC2034
paper='2015, Fig. 5'
what='Merging in memory against the number of sequences'
saw='Merging becomes slower with more sequences, without a step: 10 to 100 are all right.'
shape='merging 128 sequences is at least a fifth as fast as merging 8'
why='On 2 cores with vector instructions; each core merges its own part.'
axes='sequences;MB per second and core;logx'
measure() {
  kernels=$(program tests/bench/kernels)
  for type in u64 pair; do
    "$kernels" "$(size 8 256)" word $type >"$scratch/log" || return 1
    awk -v t=$type '/ what=merge / && / threads=1 / {
        for (i = 1; i <= NF; i++) { split($i, a, "="); v[a[1]] = a[2] }
        print t, v["pieces"], v["core_mbps"]
      }' "$scratch/log"
  done
}
check_shape() {
  awk '$1 == "u64" { y[$2] = $3 } END { exit !(y[8] > 0 && y[128] >= y[8] / 5) }' "$dat"
}
