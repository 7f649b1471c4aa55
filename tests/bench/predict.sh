#!/bin/sh
# What `pemsinfo --predict` says of PSRS and of one Alltoallv, against what they
# take, with P processes on this machine, out of core: seconds from start to end
# of the program and bytes moved to and from the disks. What other programs do
# at the same time makes both longer, but not equally: the best of ROUNDS.
#
#   PS      numbers of processes (1 2 4)
#   MEMORY  of each process (160M)
#   N V K   elements, ranks, ranks at once (2^28 64 1)
#   ROUNDS  (3)
V=${V:-64}
K=${K:-1}
N=${N:-268435456}
. "$(dirname "$0")/lib.sh"

memory=${MEMORY:-160M}
need_pems
build psrs
build alltoallv

# Prints the smaller one of two numbers, of which the first may be missing.
smaller() {
  awk -v a="$1" -v b="$2" 'BEGIN { print a == "" || b < a + 0 ? b : a }'
}

# predicted APP COLUMN: of pems's line of the table in $work/table.
predicted() {
  awk -v app="$1" -v column="$2" '$1 == app && $2 == "pems" { print $column }' \
    "$work/table"
}

for P in ${PS:-1 2 4}; do
  options="--pems-procs=$P --pems-k=$K --pems-memory=$memory --pems-disk=$DISK"
  psrs_expected='' alltoallv_expected='' psrs_took='' alltoallv_took=''
  round=0
  while [ $round -lt "${ROUNDS:-3}" ]; do
    round=$((round + 1))
    # shellcheck disable=SC2086 # words
    "$pemsinfo" --predict --n="$N" --hosts=1 -n "$V" $options \
      >"$work/table" 2>"$work/log" || give_up "pemsinfo: status $?"
    psrs_expected=$(smaller "$psrs_expected" "$(predicted psrs 3)")
    alltoallv_expected=$(smaller "$alltoallv_expected" \
      "$(predicted alltoallv 3)")
    for app in psrs alltoallv; do
      : >"$work/log"
      # shellcheck disable=SC2086 # words
      seconds_of "$pemsrun" -n "$V" $options --pems-stats "$work/$app" "$N"
      [ "$status" -eq 0 ] || give_up "$app: exit status $status"
      cp "$work/log" "$work/$app.log"
      if [ $app = psrs ]; then
        psrs_took=$(smaller "$psrs_took" "$(app_value seconds)")
      else
        alltoallv_took=$(smaller "$alltoallv_took" "$(app_value seconds)")
      fi
    done
  done
  for app in psrs alltoallv; do
    expected=$psrs_expected took=$psrs_took
    if [ $app = alltoallv ]; then
      expected=$alltoallv_expected took=$alltoallv_took
    fi
    bytes=$(calculate "$(value bytes_read "$work/$app.log") \
      + $(value bytes_written "$work/$app.log")")
    megabytes=$(calculate "$(predicted $app 7) + $(predicted $app 8)")
    printf 'RESULT bench=predict app=%s P=%s ranks=%s k=%s elements=%s ' \
      "$app" "$P" "$V" "$K" "$N"
    printf 'predicted=%.2f measured=%.2f ratio=%.3f predicted_mb=%.0f ' \
      "$expected" "$took" "$(calculate "$expected / $took")" "$megabytes"
    printf 'measured_mb=%.0f mb_ratio=%.3f\n' "$(calculate "$bytes / 1e6")" \
      "$(calculate "$megabytes * 1e6 / ($bytes + ($bytes == 0))")"
  done
done
