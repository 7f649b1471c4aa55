#!/bin/sh
# PSRS of N keys in a cgroup of LIMIT, and the bytes that it read and wrote
# against what PEMS2 would have. Sizes: see lib.sh.
. "$(dirname "$0")/lib.sh"

need_pems
psrs_with_pems

# PEMS2 (D. E. Robillard's thesis, Lemma 7.1.3): an Alltoallv of messages of w
# bytes between v contexts of m bytes moves v m + (v^2 - v k) / 2 w + 2 v^2 B
# bytes, the swap out included; then all contexts are swapped in. Here w is
# 4 N / v^2, and m is twice a share: keys to send and room for those to come.
# Gather, Bcast and Alltoall each swap the shares out and in.
data=$((4 * N))
block=4096
alltoallv=$(calculate "2 * $data + (1 - $K / $V) / 2 * $data \
  + 2 * $V * $V * $block")
pems2=$(calculate "$alltoallv + 2 * $data + 3 * 2 * $data")

bytes_read=$(value bytes_read "$work/log")
bytes_written=$(value bytes_written "$work/log")
total=$(calculate "$bytes_read + $bytes_written")
limit=$(value limit "$work/log")
peak=$(value peak_anon "$work/log")

printf 'RESULT bench=psrs elements=%s ranks=%s k=%s io=%s seconds=%s ' \
  "$N" "$V" "$K" "${IO:-unix}" "$(value seconds "$work/log")"
printf 'wall_seconds=%s mb_per_second=%.1f ' "$seconds" \
  "$(calculate "$data / $seconds / 1e6")"
printf 'bytes_read=%s bytes_written=%s reads=%s writes=%s ' \
  "$bytes_read" "$bytes_written" "$(value reads "$work/log")" \
  "$(value writes "$work/log")"
printf 'pems2_alltoallv_bytes=%.0f pems2_bytes=%.0f ratio_to_pems2=%.3f ' \
  "$alltoallv" "$pems2" "$(calculate "$total / $pems2")"
printf 'passes_over_data=%.2f ' "$(calculate "$total / $data")"
printf 'io_wait_seconds=%.2f ' \
  "$(calculate "$(value io_wait "$work/log") / 1e9")"
printf 'limit=%s peak_rss=%s peak_anon=%s max_usage=%s under_limit=%d ' \
  "$limit" "$(value peak_rss "$work/log")" "$peak" \
  "$(value max_usage "$work/log")" "$((peak <= limit))"
printf 'oom_kills=%s\n' "$(value oom_kills "$work/log")"
