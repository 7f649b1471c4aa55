#!/bin/sh
# What is not written because it did not change: V ranks of MIB mebibytes read
# all of their memory in every superstep and change the first tenth of it
# (apps/touch.c), with tracking of changes and without, in a cgroup with room
# for about a third. Writes should fall by as much as is only read.
#
#   MIB      of a rank's array (64)
#   WRITE    percent that changes (10)
#   STEPS    supersteps that count (4)
#   TRACKS   values of --pems-track; the first is the yardstick (off async)
#
# The kernel itself knows what changed with the driver mmap: it is left out of
# DRIVERS (unix uring). Other sizes: see lib.sh.
V=${V:-16}
LIMIT=${LIMIT:-448M}
DRIVERS=${DRIVERS:-unix uring}
. "$(dirname "$0")/lib.sh"

mib=${MIB:-64}
write=${WRITE:-10}
steps=${STEPS:-4}

need_pems
choose_drivers
build touch
for io in $drivers; do
  reference=
  for track in ${TRACKS:-off async}; do
    measure_steps "$io" --pems-track="$track" touch "$mib" @ --read 100 \
      --write "$write" --where same
    reference=${reference:-$took $written}
    printf 'RESULT bench=clean io=%s track=%s ranks=%s k=%s mib=%s ' \
      "$io" "$track" "$V" "$K" "$mib"
    awk -v reference="$reference" -v steps="$steps" -v seconds="$took" \
      -v read="$read" -v written="$written" -v wait="$wait" -v cpu="$cpu" \
      -v percent="$write" '
      function share(a, b) { return b > 0 ? a / b : 0 }
      BEGIN {
        split(reference, first)
        printf "write_percent=%s steps=%d ", percent, steps
        printf "seconds_per_step=%.3f ", seconds / steps
        printf "read_per_step=%.0f ", read / steps
        printf "written_per_step=%.0f ", written / steps
        printf "io_wait_per_step=%.3f ", wait / steps
        printf "cpu_seconds_per_step=%.3f ", cpu / steps
        printf "writes_saved_percent=%.1f ", 100 * (1 - share(written, first[2]))
        printf "ratio_of_time=%.3f ", share(seconds, first[1])
      }'
    printf 'limit=%s peak_rss=%s peak_anon=%s\n' "$(value limit "$work/log")" \
      "$(value peak_rss "$work/log")" "$(value peak_anon "$work/log")"
  done
done
