#!/bin/sh
# How far pems is above the floor of a program that it swaps: the bytes that the
# program touches and that are not in memory then.
#
#   floor.sh PROGRAM [ARGUMENT...]
#
# PROGRAM is built with pemscc (a path, or a name in the PATH). It runs with each
# driver and each way to swap in, and once more with --pems-swapin=pages, where
# every page is read by itself when it is touched: that tells what a swap in had
# to read, and what a swap out had to write. So that run reads and writes the
# floor: touched pages once to read them, changed ones once to write them. Its
# swaps are not exactly those of the others, so its bytes are scaled by swaps.
#
#   V        ranks (16)                K      ranks running at once (2)
#   MEMORY   --pems-memory (256M)      DISK   directory for scratch files
#   DRIVERS  I/O drivers (unix)        SWAPINS  of --pems-swapin
#            (eager lazy auto)         OPTIONS  more options for pems
#   STEPS    rows of the table of supersteps, the last ones (12; 0: none)
#
# RESULT lines, one for each run; bytes are those of all ranks together:
#   supersteps waits swaps   of all ranks
#   vain         swaps in after which a rank waited on in the same call, or
#                asked in vain
#   brief        swaps in for less than 50 us of its processor time
#   read written         moved between contexts and disks by swaps
#   delivered            messages read from and written to contexts on disk
#   touched changed      by the program: what it needed of that
#   unread unwritten     moved in and never touched, moved out and not changed
#   floor ratio          touched + changed, and what was moved instead
#   disk_s slot_s others_s  seconds of all ranks waiting for that
# The table has, for each superstep, bytes moved in and out and touched and
# changed, in KiB. Lazily read bytes count when a context leaves memory.
#
# Sizes: see lib.sh. The measuring run is slow: a disk's latency for each page.
V=${V:-16}
DRIVERS=${DRIVERS:-unix}
. "$(dirname "$0")/lib.sh"

[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
memory=${MEMORY:-256M}
command -v "$pemsrun" >/dev/null || skip "$pemsrun was not found: build pems"
command -v "$1" >/dev/null || skip "$1 was not found: build it with pemscc"

# run NAME OPTION... -- PROGRAM...: its counters are in $work/NAME.log, its report
# in $work/NAME.
run() {
  name=$1
  shift
  # shellcheck disable=SC2086 # options are words
  "$pemsrun" -n "$V" "--pems-k=$K" "--pems-memory=$memory" \
    "--pems-disk=$DISK" --pems-stats "--pems-report=$work/$name" \
    ${OPTIONS:-} "$@" >"$work/log" 2>&1 || give_up "$*: exit status $?"
  cp "$work/log" "$work/$name.log"
}

# of NAME KEY: a counter of that run.
of() {
  value "$2" "$work/$1.log"
}

# supersteps NAME: "step call in_B out_B" for each, all ranks together.
supersteps() {
  cat "$work/$1"/supersteps.*.dat | awk '
    /^# rank/ { for (i = 2; i <= NF; i++) column[$i] = i - 1; next }
    /^#/ || !NF { next }
    {
      step = $column["superstep"]
      in_B[step] += $column["in_B"]
      out_B[step] += $column["out_B"]
      call[step] = $NF
      last = step > last ? step : last
    }
    END {
      for (step = 0; step <= last; step++)
        if (step in call)
          printf "%d %s %.0f %.0f\n", step, call[step], in_B[step], out_B[step]
    }'
}

# waited NAME STATE: seconds that all ranks were in it.
waited() {
  cat "$work/$1"/supersteps.*.dat | awk -v name="$2_s" '
    /^# rank/ { for (i = 2; i <= NF; i++) if ($i == name) c = i - 1; next }
    /^#/ || !NF { next }
    { sum += $c }
    END { printf "%.2f", sum }'
}

# ratio of what run $1 moved to what $2 did, by swaps.
print() {
  printf 'RESULT bench=floor program=%s io=%s swapin=%s ranks=%s k=%s ' \
    "$program" "$driver" "$1" "$V" "$K"
  printf 'memory=%s supersteps=%s waits=%s swaps=%s vain=%s brief=%s ' \
    "$(bytes "$memory")" "$(of "$1" supersteps)" "$(of "$1" waits)" \
    "$(of "$1" swaps_in)" "$(of "$1" swaps_vain)" "$(of "$1" swaps_brief)"
  awk -v in_n="$(of "$1" swaps_in)" -v out_n="$(of "$1" swaps_out)" \
    -v read="$(of "$1" swap_in)" -v written="$(of "$1" swap_out)" \
    -v from="$(of "$1" deliver_read)" -v to="$(of "$1" deliver_written)" \
    -v all_in="$(of pages swaps_in)" -v all_out="$(of pages swaps_out)" \
    -v touched="$(of pages swap_in)" -v changed="$(of pages swap_out)" '
    function more(a, b) { return a > b ? a - b : 0 }
    BEGIN {
      touched *= all_in ? in_n / all_in : 0
      changed *= all_out ? out_n / all_out : 0
      floor = touched + changed
      printf "read=%.0f written=%.0f delivered=%.0f ", read, written, from + to
      printf "touched=%.0f changed=%.0f ", touched, changed
      printf "unread=%.0f unwritten=%.0f ", more(read, touched),
        more(written, changed)
      printf "floor=%.0f ratio=%.2f ", floor,
        floor ? (read + written) / floor : 1
    }'
  echo "disk_s=$(waited "$1" swap) slot_s=$(waited "$1" slot)" \
    "others_s=$(waited "$1" others)"
}

# The last $STEPS supersteps, beside those of the measuring run.
table() {
  supersteps "$1" >"$work/moved"
  supersteps pages | awk -v rows="${STEPS:-12}" '
    NR == FNR { touched[$1] = $3; changed[$1] = $4; next }
    { row[++n] = sprintf("%9d %10.0f %10.0f %10.0f %10.0f  %s", $1, $3 / 1024,
        $4 / 1024, touched[$1] / 1024, changed[$1] / 1024, $2) }
    END {
      if (rows > 0) print "superstep      in_KiB    out_KiB    touched", \
        "   changed  call"
      for (i = n > rows ? n - rows + 1 : 1; i <= n && rows > 0; i++) print row[i]
    }' - "$work/moved"
}

program=$(basename "$1")
choose_drivers
for driver in $drivers; do
  if [ "$driver" = mmap ] || [ "$driver" = mem ]; then
    echo "SKIP driver $driver: pems reads no pages there"
    continue
  fi
  run pages "--pems-io=$driver" --pems-swapin=pages --pems-track=off "$@"
  print pages
  for swapin in ${SWAPINS:-eager lazy auto}; do
    run "$swapin" "--pems-io=$driver" "--pems-swapin=$swapin" "$@"
    print "$swapin"
    table "$swapin"
  done
done
