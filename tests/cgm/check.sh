#!/bin/sh
# What `make check` does with one program of this folder: the same output from
# mpirun and pemsrun, with one to 64 ranks, one to four processes, contexts in
# memory and on disk, and with every exchange as if it were of more than 2^31
# elements. 64 ranks are in memory unless PEMS_TEST_LONG is set: on disk, on four
# processes, one of these programs takes minutes of processors. What they print
# under mpirun, which takes as long as all else, is recorded where it is short (-r
# of compare.sh).
set -u
source=$1
here=$(cd "$(dirname "$0")" && pwd)
# compare.sh; what runs out of time ends all (tests/limit.sh).
compare() {
  ${SHELL:-sh} "$(dirname "$0")/../mpi/compare.sh" "$@" || {
    [ $? -ne 99 ] || exit 99
    status=1
  }
}
status=0
PKG_CONFIG_PATH=${top_builddir:-$here/../../build}/wrappers
export PKG_CONFIG_PATH
PLAIN_FLAGS=$(pkg-config --cflags --libs pems-cgm-uninstalled) || exit 1
export PLAIN_FLAGS

if [ "$(basename "$source" .c)" = large ]; then
  # MiB of a list: past 2^31 elements only where there is time and memory.
  mib=5
  [ -z "${PEMS_TEST_LONG:-}" ] || mib=2100
  compare -n 2 -i unix -c --pems-procs=1 -c "--pems-procs=2 --pems-k=1" \
    "$source" $mib
  exit $status
fi

# Cases left out where there is little time: few of few ranks, most of many.
case $(basename "$source" .c) in
sort) most=797 ;;
bipartite | components | euler | lca | list_rank | tree) most=307 ;;
*) most=61 ;;
esac
case $(basename "$source" .c)${PEMS_TEST_LONG:+-long} in
sort) paces="37 197 $most" ;;
sort-long) paces="7 97 397" ;;
bipartite | components | euler | lca | list_rank | tree) paces="23 53 $most" ;;
bipartite-long | components-long | euler-long | lca-long) paces="3 17 97" ;;
*-long) paces="1 7 23" ;;
*) paces="5 17 $most" ;;
esac
# shellcheck disable=SC2086 # three numbers
set -- $paces

swapped='EVICT --pems-procs=1 --pems-k=2 --pems-context=24M'
two='EVICT --pems-procs=2 --pems-k=1 --pems-context=24M --pems-sigma=64K'
four='EVICT --pems-procs=4 --pems-k=1 --pems-context=24M --pems-sigma=64K'
compare -n "1 2" -i unix -c "EVICT --pems-procs=1 --pems-k=1" "$source" "$1"
compare -n 5 -c "$swapped --pems-io=uring" -c "$swapped --pems-io=mmap" \
  -c "$two --pems-io=unix" "$source" "$2"
recorded=-r many=64
[ -e "${source%.c}.64.txt" ] || recorded=
# What errors.c prints is long, and the same of 32 ranks but for their number.
[ -n "$recorded" ] || [ -n "${PEMS_TEST_LONG:-}" ] || many=32
compare $recorded -n $many -i unix -c --pems-procs=2 "$source" "$most"
compare -n 17 -i unix -c "$four" "$source" "$3"
PEMS_TEST_CGM_MOST=5
export PEMS_TEST_CGM_MOST
compare -n 5 -i unix -c "$swapped" "$source" "$3"
unset PEMS_TEST_CGM_MOST
if [ -n "${PEMS_TEST_LONG:-}" ]; then
  compare -n "3 8 13" -i "unix uring mmap" -c --pems-procs=1 -c "$swapped" \
    -c "$two" -c "$four" "$source" "$2"
  compare -n 64 -i "unix mmap" -c "$swapped" -c "$two" -c "$four" "$source" "$3"
fi
exit $status
