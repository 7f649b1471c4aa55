#!/bin/sh
# Programs that touch little of their memory: V ranks of MIB mebibytes change
# one percent of it in every superstep (apps/touch.c), with each way to swap in,
# in a cgroup with room for about a third. The wanted ratio is 10.
#
#   MIB      of a rank's array (64)
#   PERCENT  that is touched (1)
#   STEPS    supersteps that count (24: the first ones teach)
#   WHERES   same: the start of the array each time; moving: in order from
#            another place each time; pages: single pages at random (all three)
#   SWAPINS  values of --pems-swapin; the first is the yardstick
#            (eager lazy auto)
#
# DRIVERS: unix uring mmap. With mmap, memory always comes in when it is touched,
# so it runs once, as swapin=kernel. Other sizes: see lib.sh.
V=${V:-16}
LIMIT=${LIMIT:-448M}
DRIVERS=${DRIVERS:-unix uring mmap}
. "$(dirname "$0")/lib.sh"

mib=${MIB:-64}
percent=${PERCENT:-1}
steps=${STEPS:-24}

need_pems
choose_drivers
build touch

print() {
  printf 'RESULT bench=lazy io=%s where=%s swapin=%s ranks=%s k=%s mib=%s ' \
    "$io" "$where" "$1" "$V" "$K" "$mib"
  awk -v reference="$reference" -v steps="$steps" -v seconds="$took" \
    -v read="$read" -v written="$written" -v wait="$wait" -v cpu="$cpu" \
    -v percent="$percent" -v all="$((V * mib * 1048576))" 'BEGIN {
      touched = all * percent / 100
      printf "percent=%s steps=%d ", percent, steps
      printf "seconds_per_step=%.4f ", seconds / steps
      printf "read_per_step=%.0f ", read / steps
      printf "written_per_step=%.0f ", written / steps
      printf "read_over_touched=%.2f ", read / steps / touched
      printf "written_over_touched=%.2f ", written / steps / touched
      printf "io_wait_per_step=%.4f ", wait / steps
      printf "cpu_seconds_per_step=%.4f ", cpu / steps
      printf "times_faster_than_first=%.2f ",
        (seconds > 0 ? reference / seconds : 0)
    }'
  printf 'limit=%s peak_rss=%s peak_anon=%s\n' "$(value limit "$work/log")" \
    "$(value peak_rss "$work/log")" "$(value peak_anon "$work/log")"
}

run() {
  measure_steps "$@" touch "$mib" @ --read "$percent" --write "$percent" \
    --where "$where"
}

for where in ${WHERES:-same moving pages}; do
  reference=
  for io in $drivers; do
    if [ "$io" = mmap ]; then
      run "$io"
      reference=${reference:-$took}
      print kernel
      continue
    fi
    reference=
    for swapin in ${SWAPINS:-eager lazy auto}; do
      run "$io" --pems-swapin="$swapin"
      reference=${reference:-$took}
      print "$swapin"
    done
  done
done
