# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 12'
what='Merging from 4 slow disks: write buffers beside read buffers, their sum fixed'
saw='A quarter for writing is best; more than 2 D write buffers pay because seeks are saved.'
shape='the best split is neither the one with fewest nor the one with most write buffers by more
than 10 %'
why='Disks are files on one disk, made slow by a driver (2 ms a request, 100 MB/s each).'
axes='write buffers;seconds of merging'
measure() {
  all=$(size 48 188)
  for write in $(size '4 8 16 32' '4 8 16 32 48 64 96 128 160'); do
    read=$((all - write))
    bench tests/bench/sort "$scratch" u64 "$(size 4194304 67108864)" \
      $(($(size 24 256) << 20)) limit=0 disks=4 io=fault:unix,seek=2000,rate=100 \
      "block=$(size 65536 524288)" "write_buffers=$write" "read_buffers=$read" \
      "prefetch_buffers=$((8 + (read - 8) * 3 / 10))" || return 1
    point merge "$write" merge_seconds
  done
}
check_shape() {
  awk '!/^#/ { y[++n] = $3; if (n == 1 || $3 < best) best = $3 }
    END { exit !(n > 2 && best <= 1.1 * y[1] && best <= 1.1 * y[n]) }' "$dat"
}
