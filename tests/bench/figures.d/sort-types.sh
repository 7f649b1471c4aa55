# shellcheck shell=sh disable=SC2034
paper='2003, section 4'
what='Sorting by size of element: all, and the time of the disks'
saw='Computing is hidden behind I/O for elements from 16 bytes on; small elements take
longer than the disks need.'
shape='time per byte falls as records grow from 4 to 100 bytes'
why='Our kernels sort numbers faster than those of 2003, so the disk rules from 8 bytes on
where it is slow.'
axes='bytes of an element;ns per byte;logx'
measure() {
  bytes=$(size 67108864 4294967296)
  sort=$(program tests/bench/sort)
  mkdir -p "$out/scratch"
  for type in u32:4 u64:8 pair:16 record:100; do
    "$sort" "$out/scratch" ${type%:*} $((bytes / ${type#*:})) $((bytes / 4)) limit=0 \
      >"$out/scratch/log" || return 1
    seconds=$(value seconds <"$out/scratch/log")
    awk -v s="$seconds" -v b="$bytes" -v t="${type#*:}" \
      'BEGIN { printf "sort %d %.4f\n", t, s / b * 1e9 }'
  done
  rm -rf "$out/scratch"
}
check_shape() {
  awk '!/^#/ { if (!n++) first = $3; last = $3 } END { exit !(n == 4 && last < first) }' "$dat"
}
