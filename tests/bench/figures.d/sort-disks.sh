# shellcheck shell=sh disable=SC2034
paper='2003, section 5 (Fig. 7 against 6)'
what='Sorting on D slow disks'
saw='Eight disks give 315 MB/s, seven times what one gives.'
shape='each doubling of the disks up to 4 gives at least 1.3 times the throughput'
why='Disks are files on one disk, made slow by a driver (1 ms a request, 50 MB/s each); only
runs are on them.'
axes='disks;MB per second read and written;logx'
measure() {
  n=$(size 4194304 67108864)
  for disks in 1 2 4 8; do
    bench tests/bench/sort "$scratch" u64 "$n" $(($(size 8 128) << 20)) files=0 limit=0 \
      "disks=$disks" io=fault:unix,seek=1000,rate=50 "block=$(size 65536 1048576)" || return 1
    point sort "$disks" "2 * 8 * $n / seconds / 1e6"
  done
}
check_shape() {
  awk '!/^#/ { y[$2] = $3 } END { exit !(y[2] >= 1.3 * y[1] && y[4] >= 1.3 * y[2]) }' "$dat"
}
