#!/bin/sh
# What `pemsinfo --plan` says of programs, from small runs of them, against what they
# take: bytes from and to the disks, seconds from start to end, and those of
# processors, which depend little on what else the machine does. Sorting, sorting
# with <pems/cgm.h>, and a transform of FFTW's, where it is installed.
#
#   plan.sh [PROGRAM...]   psrs cgm_sort fft; or SIZE:COMMAND, with @ for the size
#
#   MEMORY  of the process (320M)
#   V K     ranks, ranks at once (32 2)
#   N       of psrs and cgm_sort (2^27)
#   FFT     of the transform, in each direction (6144)
#   SHOW    1: print the plans, too
#   ROUNDS  each of the run asked about, by turns with a plan (1); the medians count
#   PLAN    other options of pemsinfo's (--rate=R, --sizes=A,B)
V=${V:-32}
N=${N:-134217728}
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/prediction.sh
. "$(dirname "$0")/../prediction.sh"

memory=${MEMORY:-320M}
need_pems

# median: of the numbers in lines.
median() {
  sort -g | awk '{ x[NR] = $1 } END { print (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'
}

# compare NAME SIZE COMMAND...: with @ for the size.
compare() {
  name=$1 size=$2
  shift 2
  load=$(cut -d ' ' -f 1 /proc/loadavg)
  rm -f "$work"/*.each
  round=0
  while [ $round -lt "${ROUNDS:-1}" ]; do
    round=$((round + 1))
    : >"$work/log"
    # shellcheck disable=SC2086 # words
    seconds_of "$pemsinfo" --plan="$size" ${PLAN:-} -n "$V" --pems-k="$K" \
      --pems-memory="$memory" --pems-disk="$DISK" "$@"
    [ "$status" -eq 0 ] || give_up "pemsinfo: status $status"
    cp "$work/log" "$work/plan"
    echo "$seconds" >>"$work/planning.each"
    for what in seconds processors read written; do
      prediction "$work/plan" $what >>"$work/predicted.$what.each"
    done
    : >"$work/log"
    run_of "$size" "$@"
    [ "$status" -eq 0 ] || give_up "$name: exit status $status"
    value seconds "$work/log" >>"$work/taken.seconds.each"
    echo "$(value cpu_seconds "$work/log") $(value start_cpu_seconds "$work/log")" |
      awk '{ print $1 - $2 }' >>"$work/taken.processors.each"
    value bytes_read "$work/log" >>"$work/taken.read.each"
    value bytes_written "$work/log" >>"$work/taken.written.each"
  done
  [ -z "${SHOW:-}" ] || cat "$work/plan"
  printf 'RESULT bench=plan app=%s size=%s ranks=%s k=%s memory=%s planning=%.1f' \
    "$name" "$size" "$V" "$K" "$memory" "$(median <"$work/planning.each")"
  for what in seconds processors read written; do
    said=$(median <"$work/predicted.$what.each")
    was=$(median <"$work/taken.$what.each")
    printf ' %s=%.4g predicted_%s=%.4g ratio_%s=%.3f' $what "$was" $what "$said" \
      $what "$(calculate "$said / ($was + ($was == 0))")"
  done
  printf ' load=%s\n' "$load"
}

# run_of SIZE COMMAND...
run_of() {
  count=$1
  shift
  for argument; do
    shift
    [ "$argument" != @ ] || argument=$count
    set -- "$@" "$argument"
  done
  seconds_of "$pemsrun" -n "$V" --pems-k="$K" --pems-memory="$memory" \
    --pems-disk="$DISK" --pems-stats "$@"
}

[ $# -gt 0 ] || set -- psrs cgm_sort fft
for each; do
  case $each in
    psrs)
      build psrs
      compare psrs "$N" "$work/psrs" @
      ;;
    cgm_sort)
      "$pemscc" -O2 -o "$work/cgm_sort" "$top/apps/cgm_sort.c" || exit 1
      compare cgm_sort "$N" "$work/cgm_sort" @
      ;;
    fft)
      "$pemscc" -O2 -o "$work/fft" "$top/tests/mpi/library/fftw.c" -lfftw3_mpi \
        -lfftw3 -lm 2>"$work/log" || {
        echo "SKIP fft: FFTW's MPI library is not installed (libfftw3-mpi-dev)"
        continue
      }
      compare fft "${FFT:-6144}" "$work/fft" @
      ;;
    *:*)
      # shellcheck disable=SC2086 # words
      compare "$(basename "$(echo "${each#*:}" | cut -d ' ' -f 1)")" "${each%%:*}" ${each#*:}
      ;;
    *) give_up "$each: unknown: psrs, cgm_sort, fft, or SIZE:COMMAND" ;;
  esac
done
