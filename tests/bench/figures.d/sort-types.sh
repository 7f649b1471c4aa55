# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 8'
what='Sorting by size of element: all, computing, and waiting for the disk'
saw='Small elements are bound by computing: forming runs up to 128 bytes, merging up to 64. From there on
merging waits for the disk, and computing is hidden behind I/O.'
shape='computing for a byte falls to 0.7 or less from 4 to 100 bytes, waiting while merging grows, and a
byte takes at most 1.4 times as long in the slowest size as in the fastest'
why='Our kernels compute for a byte of numbers in less time than even an SSD of 2 GB/s needs to move it, so that
the disk decides from 4 bytes on: the curve of all is flat where that of 2003 falls. What computing saves
with larger elements is waited for instead.'
axes='bytes of an element;ns per byte;logx'
measure() {
  bytes=$(size 67108864 4294967296)
  for round in $(size '1 2 3 4 5' 1); do
    for type in u32:4 u64:8 pair:16 record:100; do
      bench tests/bench/sort "$scratch" ${type%:*} $((bytes / ${type#*:})) $((bytes / 4)) \
        limit=0 || return 1
      point sort "${type#*:}" "seconds / $bytes * 1e9"
      point computing "${type#*:}" "(form_cpu + merge_cpu) / threads / $bytes * 1e9"
      point waiting-forming "${type#*:}" "(form_read_wait + form_write_wait) / $bytes * 1e9"
      point waiting-merging "${type#*:}" "(merge_read_wait + merge_write_wait) / $bytes * 1e9"
    done
  done >"$scratch/rounds" && medians <"$scratch/rounds"
}
check_shape() {
  awk '!/^#/ { y[$1, $2] = $3 }
    $1 == "sort" { n++; if ($3 > most) most = $3; if (least == 0 || $3 < least) least = $3 }
    END {
      exit !(n == 4 && most <= 1.4 * least && y["computing", 4] > 0 &&
        y["computing", 100] <= 0.7 * y["computing", 4] &&
        y["waiting-merging", 100] > y["waiting-merging", 4])
    }' "$dat"
}
