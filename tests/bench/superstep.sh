#!/bin/sh
# Time per superstep of an empty Barrier and of an Allreduce of 8 bytes, for v
# from 2 to 1024 (VS), with the mem driver: what pems itself costs. PLAIN is the
# greatest v (default: 16, 0 for none) that is run without pems, too, with as many
# processes of the MPI that carries it: RESULT bench=superstep_plain, and in a line
# of bench=superstep_ratio times=T, T times as long with pems. PROCS is the number
# of real processes of pems (1).
. "$(dirname "$0")/lib.sh"

need_pems
"$pemscc" -O2 -o "$work/superstep" "$here/superstep.c" || exit 1
"$mpicc" -O2 -o "$work/superstep.plain" "$here/superstep.c" || exit 1
for v in ${VS:-2 4 8 16 32 64 128 256 512 1024}; do
  : >"$work/log"
  repeats=$((65536 / v))
  launcher_measure "${PROCS:-1}"
  seconds_of "$pemsrun" -n "$v" --pems-procs="${PROCS:-1}" --pems-io=mem \
    "--pems-disk=$DISK" --pems-context=1M "$work/superstep" "$repeats"
  [ "$status" -eq 0 ] || give_up "v=$v: exit status $status"
  grep '^RESULT bench=superstep' "$work/log" | tee "$work/pems"
  [ "$v" -le "${PLAIN:-16}" ] || continue
  launcher_measure "$v"
  : >"$work/log"
  seconds_of "$mpirun" -n "$v" "$work/superstep.plain" "$((repeats / 8))"
  [ "$status" -eq 0 ] || give_up "v=$v without pems: exit status $status"
  sed -n 's/^RESULT bench=superstep/&_plain/p' "$work/log"
  cat "$work/log" "$work/pems" | awk -v v="$v" -v p="${PROCS:-1}" '
    /^RESULT bench=superstep/ {
      split($3, operation, "=")
      split($6, us, "=")
      if (operation[2] in plain)
        printf "RESULT bench=superstep_ratio operation=%s ranks=%d procs=%d " \
          "times=%.2f\n", operation[2], v, p, us[2] / plain[operation[2]]
      else
        plain[operation[2]] = us[2]
    }'
done
