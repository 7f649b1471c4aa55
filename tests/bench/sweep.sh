#!/bin/sh
# Pure swapping: V ranks of MIB mebibytes each change all of their memory in
# every superstep (apps/sweep.c), in a cgroup with room for about a third. Bytes
# per superstep against 2 (V - M) with --pems-order=alternate and 2 V with id,
# and the rate against fio's, which moves as many bytes in requests of the same
# size, in the same mix of reads and writes, in the same directory, right after.
#
#   MIB     of a rank's array (62: with what else is in a context that is a bit
#           less than 64, of which a whole number fits well into M)
#   STEPS   supersteps that count (4)
#   ORDERS  (alternate id)
#   ROUNDS  how often each is run; the fastest counts (1)
#   DEPTH   requests in flight (pems's own choice; 16 for fio)
#
# Other sizes: see lib.sh.
V=${V:-16}
LIMIT=${LIMIT:-448M}
. "$(dirname "$0")/lib.sh"

mib=${MIB:-62}
steps=${STEPS:-4}
depth_option=${DEPTH:+--pems-depth=$DEPTH}

need_pems
choose_drivers
build sweep
command -v fio >/dev/null || echo "SKIP fio: it was not found: rates of pems only"

# Runs fio with engine $1 for $read + $written bytes; $fio_rate is in MB/s. Each
# job has a file, as large together as all contexts; laying them out does not
# count, as the growing of pems's does not.
run_fio() {
  jobs=$2
  fio_rate=
  total=$(calculate "$read + $written")
  if ! command -v fio >/dev/null || [ "${total%.*}" -lt "$block" ]; then
    return
  fi
  mkdir "$work/fio"
  mix=$(awk "BEGIN { printf \"%.0f\", 100 * $read / $total }")
  file_size=$(awk "BEGIN {
    n = int($V * $mib * 1048576 / $jobs / $block)
    printf \"%.0f\", (n > 0 ? n : 1) * $block }")
  volume=$(awk "BEGIN { printf \"%.0f\", $total / $jobs }")
  if fio --name=sweep --directory="$work/fio" --direct=1 --ioengine="$1" \
    --rw=rw --rwmixread="$mix" --bs="$block" --iodepth="${DEPTH:-16}" \
    --size="$file_size" --io_size="$volume" --numjobs="$jobs" --thread \
    --group_reporting --output-format=terse --terse-version=3 \
    --output="$work/fio.out" >"$work/log" 2>&1; then
    # KiB read and written, milliseconds of both
    fio_rate=$(awk -F ';' '$1 == 3 {
      ms = $9 > $50 ? $9 : $50
      printf "%.1f", (ms > 0 ? ($6 + $47) * 1.024 / ms : 0) }' "$work/fio.out")
  else
    echo "SKIP fio $1: $(head -n 1 "$work/log")"
  fi
  rm -rf "$work/fio"
}

# The engine of fio that works as driver $1, and its threads.
fio_for() {
  case $1 in
    aio) run_fio libaio 1 ;;
    uring) run_fio io_uring 1 ;;
    *) run_fio psync "$K" ;; # as many threads as move contexts in pems
  esac
}

all=$((V * mib * 1048576))
for order in ${ORDERS:-alternate id}; do
  for io in $drivers; do
    # shellcheck disable=SC2086 # nothing or one word
    measure_steps "$io" --pems-order="$order" $depth_option sweep "$mib" @
    m=$(context_memory)
    peak_rss=$(value peak_rss "$work/log")
    peak_anon=$(value peak_anon "$work/log")
    limit=$(value limit "$work/log")
    fio_for "$io"
    # With whole contexts in memory, part of the last one's share of M is idle.
    if [ "$order" = id ]; then
      formula="2 * $all"
      whole=$formula
    else
      formula="2 * ($all - $m)"
      whole="2 * ($all - int($m / ($mib * 1048576)) * $mib * 1048576)"
    fi
    printf 'RESULT bench=sweep io=%s order=%s ranks=%s k=%s mib=%s ' \
      "$io" "$order" "$V" "$K" "$mib"
    awk -v all="$all" -v m="$m" -v steps="$steps" -v seconds="$took" \
      -v read="$read" -v written="$written" -v wait="$wait" -v cpu="$cpu" \
      -v block="$block" -v fio="$fio_rate" "
      function share(a, b) { return b > 0 ? a / b : 0 }
      BEGIN {
        formula = $formula
        whole = $whole
        bytes = (read + written) / steps
        gib = (read + written) / 1024 ^ 3
        rate = share(read + written, seconds) / 1e6
        printf \"steps=%d seconds_per_step=%.3f \", steps, seconds / steps
        printf \"read_per_step=%.0f written_per_step=%.0f \", read / steps,
          written / steps
        printf \"all=%.0f resident=%.0f formula=%.0f ratio_to_formula=%.3f \",
          all, m, formula, share(bytes, formula)
        printf \"ratio_to_whole_contexts=%.3f \", share(bytes, whole)
        printf \"request=%d mb_per_second=%.1f \", block, rate
        printf \"io_wait_per_step=%.3f cpu_seconds_per_gib=%.3f \", wait / steps,
          share(cpu, gib)
        if (fio > 0) {
          printf \"fio_mb_per_second=%.1f ratio_to_fio=%.3f \", fio, rate / fio
        }
      }"
    printf 'limit=%s peak_rss=%s peak_anon=%s under_limit=%d\n' "$limit" \
      "$peak_rss" "$peak_anon" "$((peak_anon <= limit))"
  done
done
