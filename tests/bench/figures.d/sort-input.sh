# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 9'
what='Merging from 4 slow disks: waiting for input by the share of prefetch buffers'
saw='The more of the read buffers prefetch in the optimal order, the less merging waits.'
shape='all for prefetching waits at most 1.1 times as long as the naive order'
why='Disks are files on one disk, made slow by a driver (2 ms a request, 100 MB/s each).'
axes='read buffers;seconds of waiting for input'
measure() {
  prefetched read_wait "$(size '8 16' '4 8 12 16 24 32')" "$(size '0 10' '0 3 6 10')"
}
check_shape() {
  at_most "$(mean_of 100%)" 1.1 "$(mean_of naive)"
}
