# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 13'
what='Sorting on 4 slow disks against the size of blocks'
saw='Blocks of several MB are needed; the largest possible leave too few buffers.'
shape='the smallest blocks take at least 1.5 times as long as the best'
why='Disks are files on one disk, made slow by a driver (2 ms a request, 100 MB/s each).'
axes='bytes of a block;ns per byte;logx'
measure() {
  n=$(size 2097152 67108864)
  block=$(size 16384 65536)
  while [ "$block" -le "$(size 131072 4194304)" ]; do
    bench tests/bench/sort "$scratch" u64 "$n" $(($(size 8 128) << 20)) files=0 limit=0 \
      disks=4 io=fault:unix,seek=2000,rate=100 "block=$block" || return 1
    point sort "$block" "seconds / 8 / $n * 1e9"
    block=$((block * 2))
  done
}
check_shape() {
  awk '!/^#/ { if (!n++) first = best = $3; if ($3 < best) best = $3 }
    END { exit !(n > 2 && first >= 1.5 * best) }' "$dat"
}
