#!/bin/sh
# Time per superstep of an empty Barrier and of an Allreduce of 8 bytes, for v
# from 2 to 1024 (VS), with the mem driver: what pems itself costs. PLAIN is the
# greatest v (default: 16, 0 for none) that is run without pems, too, with as many
# processes of the MPI that carries it: RESULT bench=superstep_plain.
. "$(dirname "$0")/lib.sh"

need_pems
"$pemscc" -O2 -o "$work/superstep" "$here/superstep.c" || exit 1
"$mpicc" -O2 -o "$work/superstep.plain" "$here/superstep.c" || exit 1
for v in ${VS:-2 4 8 16 32 64 128 256 512 1024}; do
  : >"$work/log"
  repeats=$((65536 / v))
  seconds_of "$pemsrun" -n "$v" --pems-io=mem "--pems-disk=$DISK" \
    --pems-context=1M "$work/superstep" "$repeats"
  [ "$status" -eq 0 ] || give_up "v=$v: exit status $status"
  grep '^RESULT bench=superstep' "$work/log"
  [ "$v" -le "${PLAIN:-16}" ] || continue
  launcher_measure "$v"
  : >"$work/log"
  seconds_of "$mpirun" -n "$v" "$work/superstep.plain" "$((repeats / 8))"
  [ "$status" -eq 0 ] || give_up "v=$v without pems: exit status $status"
  sed -n 's/^RESULT bench=superstep/&_plain/p' "$work/log"
done
