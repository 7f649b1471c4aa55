# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 8'
what='Sorting by size of element: all, and waiting for the disk while merging'
saw='Computing is hidden behind I/O for elements from 64 bytes on, where merging starts to wait;
small elements take longer than the disks need.'
shape='time per byte falls as records grow from 4 to 100 bytes'
why='Our kernels sort numbers faster than those of 2003, so the disk rules from 4 bytes on. Records of
more than 16 bytes are sorted by pointers: while their runs are formed, the disk stands still at times,
so that forming takes a third longer than with numbers.'
axes='bytes of an element;ns per byte;logx'
measure() {
  bytes=$(size 67108864 4294967296)
  for type in u32:4 u64:8 pair:16 record:100; do
    bench tests/bench/sort "$scratch" ${type%:*} $((bytes / ${type#*:})) $((bytes / 4)) \
      limit=0 || return 1
    point sort "${type#*:}" "seconds / $bytes * 1e9"
    point waiting "${type#*:}" "(merge_read_wait + merge_write_wait) / $bytes * 1e9"
  done
}
check_shape() {
  awk '$1 == "sort" { if (!n++) first = $3; last = $3 } END { exit !(n == 4 && last < first) }' "$dat"
}
