#!/bin/sh
# Lists, forests and graphs whose contexts are several times the memory that the
# kernel grants, by every driver, on one and two processes: right, nothing
# killed, and all that is allocated within the limit. tests/fault/outofcore.sh
# does the same for sorting and sums.
set -u
# shellcheck source=tests/fault/outofcore_lib.sh
. "$(dirname "$0")/../fault/outofcore_lib.sh"
build cgm_list_rank cgm_euler cgm_components
times=4

long=
[ -z "${PEMS_TEST_LONG:-}" ] || long=1
for io in unix uring mmap; do
  case $io in
  unix | mmap) alone=1 ;;
  *) alone=$long ;;
  esac
  [ -z "$alone" ] ||
    within 128M right=1 -n 32 --pems-io=$io "$work/cgm_list_rank" 2000000 \
      --check
done
within 128M trees=900 -n 32 "$work/cgm_euler" 900 --make forest --lca 200000
within 128M trees=1 -n 32 --pems-k=1 --pems-io=uring "$work/cgm_euler" 500000 \
  --make caterpillar
# Messages from many contexts at once, in many pieces each.
within 128M components=11431 -n 32 --pems-k=2 --pems-io=unix \
  "$work/cgm_components" 600000 --make random
within 160M 'bipartite=0' -n 33 --pems-procs=2 --pems-k=1 \
  "$work/cgm_components" 150000 --make random --bipartite
if [ -n "$long" ]; then
  within 128M 'depth=2 ' -n 32 "$work/cgm_euler" 1000000 --make star --lca 9
  within 128M 'components=1 ' -n 32 --pems-k=1 --pems-io=mmap \
    "$work/cgm_components" 1000000 --make path
fi
exit $status
