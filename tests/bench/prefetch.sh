#!/bin/sh
# The optimal order of fetching beside the naive one, as in Fig. 9 to 11 of
# Dementiev and Sanders 2003: D = 4 disks, each of which serves one request after
# the other. Files on one disk count as disks; a driver makes them slow.
#
#   DISKS     (4)
#   SLOW      of each disk: microseconds per request, 10^6 bytes per second
#             (seek=2000,rate=100)
#   COUNT     records of 8 bytes (2^26), MEMORY in MiB (48), BLOCK bytes (2^19)
#   READ      read buffers r beside one per run ("4 8 12 16 24 32")
#   FRACTION  of r - 2D that is for prefetching, in tenths ("0 3 6 10")
#
# Only the runs are on the slow disks: records are made and checked on the fly.
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

sort=${SORT_BENCH:-$(dirname "$(command -v "$pemsrun")")/tests/bench/sort}
[ -x "$sort" ] || skip "$sort was not found: make tests/bench/sort"
disks=${DISKS:-4}
slow=${SLOW:-seek=2000,rate=100}

# run READ PREFETCH naive|optimal
run() {
  : >"$work/log"
  seconds_of "$sort" "$work" u64 "${COUNT:-67108864}" \
    $((${MEMORY:-48} << 20)) files=0 limit=0 "disks=$disks" \
    "io=fault:unix,$slow" "block=${BLOCK:-524288}" "fetch=$3" \
    "read_buffers=$1" "prefetch_buffers=$2" "write_buffers=$((2 * disks))"
  [ "$status" -eq 0 ] || give_up "r=$1 w=$2 $3: exit status $status"
  printf 'RESULT bench=prefetch fetch=%s disks=%s r=%s w=%s ' \
    "$3" "$disks" "$1" "$2"
  printf 'runs=%s merge_seconds=%s read_wait=%s\n' \
    "$(value runs "$work/log")" "$(value merge_seconds "$work/log")" \
    "$(value merge_read_wait "$work/log")"
}

for r in ${READ:-4 8 12 16 24 32}; do
  run "$r" "$r" naive
  for fraction in ${FRACTION:-0 3 6 10}; do
    least=$((2 * disks < r ? 2 * disks : r))
    run "$r" $((least + (r - least) * fraction / 10)) optimal
    [ "$least" -lt "$r" ] || break
  done
done
