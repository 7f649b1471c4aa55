# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 9'
what='Merging from 4 slow disks: waiting for input by the share of prefetch buffers'
saw='The more of the read buffers prefetch in the optimal order, the less merging waits.'
shape='all for prefetching waits at most 1.1 times as long as the naive order'
why='Disks are files on one disk, made slow by a driver (2 ms a request, 100 MB/s each).'
axes='read buffers;seconds of waiting for input'
measure() {
  DISK=${TMPDIR:-/var/tmp} COUNT=$(size 4194304 67108864) MEMORY=$(size 8 48) \
    BLOCK=$(size 131072 524288) READ=$(size '8 16' '4 8 12 16 24 32') \
    FRACTION="$(size '0 10' '0 3 6 10')" "$here/prefetch.sh" >"$scratch/log" || return 1
  awk '/^RESULT/ {
      for (i = 1; i <= NF; i++) { split($i, a, "="); v[a[1]] = a[2] }
      least = v["r"] < 8 ? v["r"] : 8
      share = v["r"] > least ? int((v["w"] - least) * 10 / (v["r"] - least) + 0.5) * 10 : 100
      print (v["fetch"] == "naive" ? "naive" : share "%"), v["r"], v["read_wait"]
    }' "$scratch/log"
}
check_shape() {
  at_most "$(mean_of 100%)" 1.1 "$(mean_of naive)"
}
