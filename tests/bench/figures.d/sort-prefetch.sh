# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 11'
what='Merging: prefetching by the heuristic beside the naive order, 4 slow disks'
saw='With few read buffers optimal prefetching saves up to a quarter of the time; with many both are
alike.'
shape='prefetching takes at most 1.1 times as long as the naive order, on the mean'
why='Disks are files on one disk, made slow by a driver (2 ms a request, 100 MB/s each).'
axes='read buffers;seconds of merging'
measure() {
  prefetched merge_seconds "$(size '8 16' '4 8 12 16 24 32')" 3 >"$scratch/points" || return 1
  # The share is rounded to blocks.
  sed 's/^[0-9]*%/heuristic/' "$scratch/points"
}
check_shape() {
  at_most "$(mean_of heuristic)" 1.1 "$(mean_of naive)"
}
