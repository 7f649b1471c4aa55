# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 7'
what='Sorting on eight slow disks by size of element: independent disks beside stripes'
saw='On eight disks STXXL reaches 315 MB/s, two to three times what TPIE does on stripes; much of that
is lost when STXXL runs on stripes, too.'
shape='independent disks take at most 1.1 times as long as stripes, on the mean'
why='Disks are files on one disk, made slow by a driver (1 ms a request, 50 MB/s each). TPIE and
LEDA-SM are not at hand; stripes are ours, dealt block by block. At the small scale each disk has
some sixty requests, so that the wake-ups of threads decide on a busy machine.'
axes='bytes of an element;MB per second read and written;logx'
measure() {
  bytes=$(size 33554432 536870912)
  for deal in cyclic stripe; do
    for type in u32:4 u64:8 pair:16 record:100; do
      bench tests/bench/sort "$scratch" ${type%:*} $((bytes / ${type#*:})) $((bytes / 4)) \
        files=0 limit=0 disks=8 io=fault:unix,seek=1000,rate=50 \
        "block=$(size 65536 1048576)" deal=$deal || return 1
      point $deal "${type#*:}" "2 * $bytes / seconds / 1e6"
    done
  done
}
check_shape() {
  at_most "$(mean_of stripe)" 1.1 "$(mean_of cyclic)"
}
