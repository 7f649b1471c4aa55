#!/bin/sh
# Contexts of several times the memory that the kernel grants: PSRS, a sweep, an
# Alltoallv, sorting and prefix sums of the CGM library in a cgroup, by every
# driver, on one and two processes. Results right, nothing killed, and what was
# chosen stays within the limit.
set -u
# shellcheck source=tests/fault/outofcore_lib.sh
. "$(dirname "$0")/outofcore_lib.sh"
build psrs sweep alltoallv cgm_sort cgm_prefix

sorted='sorted=1 count_ok=1 checksum_ok=1'
for io in unix mmap; do
  # 256 MiB of keys, about 560 MiB of contexts
  within 128M "$sorted" \
    -n 32 --pems-io=$io "$work/psrs" 67108864
  within 160M "$sorted" \
    -n 31 --pems-procs=2 --pems-io=$io "$work/psrs" 67108864
done
for io in unix uring mmap; do
  within 128M sorted=1 \
    -n 32 --pems-io=$io "$work/cgm_sort" 67108864 --check
done
within 160M sorted=1 \
  -n 31 --pems-procs=2 "$work/cgm_sort" 67108864 --psrs --check
# 512 MiB of numbers
within 128M right=1 -n 32 "$work/cgm_prefix" 67108864 --check
within 128M right=1 \
  -n 32 --pems-io=mmap "$work/cgm_prefix" 67108864 --exclusive --check
within 128M "$sorted" \
  -n 24 --pems-k=1 "$work/psrs" 67108864
within 128M "$sorted" \
  -n 32 "$work/psrs" 67108864 --key equal
within 128M 'RESULT app=sweep' -n 16 "$work/sweep" 32 4
within 128M 'RESULT app=alltoallv' -n 16 "$work/alltoallv" 67108864
exit $status
