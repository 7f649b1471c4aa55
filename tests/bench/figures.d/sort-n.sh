# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 14'
what='Sorting 8-byte keys against n'
saw='Time per element grows by about a half with n: seeks become longer and blocks smaller,
though two passes are enough.'
shape='time per byte of the largest n is at most 1.6 times that of n / 4'
axes='bytes;ns per byte;logx'
measure() {
  for mib in $(size '32 64 128' '1024 2048 4096 8192 16384'); do
    bench tests/bench/sort "$scratch" u64 $((mib << 17)) $(($(size 16 256) << 20)) limit=0 ||
      return 1
    point u64 $((mib << 20)) "seconds / $((mib << 20)) * 1e9"
  done
}
check_shape() {
  awk '!/^#/ { y[n++] = $3 } END { exit !(n > 2 && y[n - 1] <= 1.6 * y[n - 3]) }' "$dat"
}
