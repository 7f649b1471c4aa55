# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 10'
what='Merging from 4 slow disks: all its time by the share of prefetch buffers'
saw='Waiting for input falls with the share that prefetches, all of merging does not: most buffers
had better overlap I/O and computing. Only with very few does the optimal order matter.'
shape='three tenths for prefetching take at most 1.1 times as long as the best share'
why='Our merger takes blocks as they come, so that buffers for overlapping and for prefetching differ
less. Disks are files on one disk, made slow by a driver (2 ms a request, 100 MB/s each).'
axes='read buffers;seconds of merging'
measure() {
  prefetched merge_seconds "$(size '8 16' '4 8 12 16 24 32')" "$(size '0 3 10' '0 3 6 10')"
}
check_shape() {
  best=$(for share in 0% 30% 60% 100%; do mean_of $share; done | grep -v '^0$' | sort -g | head -n 1)
  at_most "$(awk '$1 == "20%" || $1 == "30%" || $1 == "40%" { n++; s += $3 } END { print n ? s / n : 0 }' "$dat")" \
    1.1 "$best"
}
