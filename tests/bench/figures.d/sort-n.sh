# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 7 and 8'
what='Sorting 8-byte keys against n'
saw='Time per byte hardly grows with n while one merging pass is enough.'
shape='time per byte of the largest n is at most 1.6 times that of n / 4'
axes='bytes;ns per byte;logx'
measure() {
  sort=$(program tests/bench/sort)
  mkdir -p "$out/scratch"
  for mib in $(size '32 64 128' '1024 2048 4096 8192 16384'); do
    "$sort" "$out/scratch" u64 $((mib << 17)) $(($(size 16 256) << 20)) limit=0 \
      >"$out/scratch/log" || return 1
    awk -v s="$(value seconds <"$out/scratch/log")" -v m="$mib" \
      'BEGIN { printf "u64 %.0f %.4f\n", m * 1048576, s / m / 1048576 * 1e9 }'
  done
  rm -rf "$out/scratch"
}
check_shape() {
  awk '!/^#/ { y[n++] = $3 } END { exit !(n > 2 && y[n - 1] <= 1.6 * y[n - 3]) }' "$dat"
}
