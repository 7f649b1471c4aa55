# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 14'
what='Sorting 8-byte keys against n, beside STXXL'
saw='Time per element grows by about a half with n: seeks become longer and blocks smaller,
though two passes are enough.'
shape='time per byte of the largest n is at most 1.6 times that of n / 4'
why='An SSD has no seeks and no slow zones: time per byte stays. STXXL is Debian'"'"'s.'
axes='bytes;ns per byte;logx'
measure() {
  for mib in $(size '32 64 128' '1024 2048 4096 8192 16384'); do
    bytes=$((mib << 20)) memory=$(($(size 16 256) << 20))
    bench tests/bench/sort "$scratch" u64 $((mib << 17)) $memory limit=0 || return 1
    point pems $bytes "seconds / $bytes * 1e9"
    build_stxxl || continue
    sort_stxxl u64 $((mib << 17)) $(($(size 64 256) << 20)) || continue
    point stxxl $bytes "seconds / $bytes * 1e9"
  done
}
check_shape() {
  awk '$1 == "pems" { y[n++] = $3 } END { exit !(n > 2 && y[n - 1] <= 1.6 * y[n - 3]) }' "$dat"
}
