# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 9 to 11'
what='Merging: optimal prefetching beside naive, 4 slow disks'
saw='With few read buffers optimal prefetching saves up to a quarter of the time of input;
with many both are alike.'
shape='optimal prefetching takes at most 1.1 times as long as naive, on the mean'
why='Disks are files on one disk, made slow by a driver (2 ms a request, 100 MB/s each).'
axes='read buffers;seconds of merging'
measure() {
  program tests/bench/sort >/dev/null
  DISK=${TMPDIR:-/var/tmp} COUNT=$(size 4194304 67108864) MEMORY=$(size 8 48) \
    BLOCK=$(size 131072 524288) READ=$(size '8 16' '4 8 12 16 24 32') FRACTION=3 \
    "$here/prefetch.sh" >"$out/$name.log" || return 1
  sed -n 's/^RESULT .* fetch=\([a-z]*\) .* r=\([0-9]*\) .*merge_seconds=\([0-9.]*\).*/\1 \2 \3/p' \
    "$out/$name.log"
  rm -f "$out/$name.log"
}
check_shape() {
  at_most "$(mean_of optimal)" 1.1 "$(mean_of naive)"
}
