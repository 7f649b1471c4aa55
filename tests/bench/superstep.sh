#!/bin/sh
# Time per superstep of an empty Barrier and of an Allreduce of 8 bytes, for v
# from 2 to 1024 (VS), with the mem driver: what pems itself costs.
. "$(dirname "$0")/lib.sh"

need_pems
"$pemscc" -O2 -o "$work/superstep" "$here/superstep.c" || exit 1
for v in ${VS:-2 4 8 16 32 64 128 256 512 1024}; do
  : >"$work/log"
  repeats=$((65536 / v))
  seconds_of "$pemsrun" -n "$v" --pems-io=mem "--pems-disk=$DISK" \
    --pems-context=1M "$work/superstep" "$repeats"
  [ "$status" -eq 0 ] || give_up "v=$v: exit status $status"
  grep '^RESULT bench=superstep' "$work/log"
done
