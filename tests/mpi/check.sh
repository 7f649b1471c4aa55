#!/bin/sh
# What `make check` does with one MPI program of this folder: compare.sh with
# the numbers of ranks, drivers and cases that fit into a few minutes, all of
# them with PEMS_TEST_LONG.
set -u
source=$1
name=$(basename "$source")
# compare.sh; what runs out of time ends all (tests/limit.sh), and so does what
# cannot be compiled without Fortran.
compare() {
  ${SHELL:-sh} "$(dirname "$0")/compare.sh" "$@" || {
    ended=$?
    case $ended in
    77 | 99) exit $ended ;;
    esac
    status=1
  }
}
status=0
# shellcheck source=tests/launcher.sh
. "$(dirname "$0")/../launcher.sh"
if [ "$launcher" = hydra ]; then
  case ${name%.*} in
  errors | p2p_errors | file_errors | win_errors)
    echo "SKIP $name: what wrong calls return is as with Open MPI"
    exit 77
    ;;
  signals)
    echo "SKIP $name: MPICH takes the program's signals"
    exit 77
    ;;
  esac
fi
case ${MPICC:-mpicc}:${name%.*} in
*mpicc_abi*:old_names)
  echo "SKIP $name: the header of MPI 5.0's ABI has none of the old names"
  exit 77
  ;;
esac
# Each call of compare.sh takes what the first one has compiled.
COMPARE_PROGRAMS=$(mktemp -d "${TESTDIR:-${TMPDIR:-/var/tmp}}/pems-programs.XXXXXX") ||
  exit 1
export COMPARE_PROGRAMS
trap 'rm -rf "$COMPARE_PROGRAMS"' EXIT
trap 'exit 130' INT TERM
case $source in
*/cgm/*)
  ${SHELL:-sh} "$(dirname "$0")/../cgm/check.sh" "$source"
  exit
  ;;
esac
cases=
case ${name%.*} in
alltoall | allgather | bcast | gather | scatter | reduce | reduce_scatter | \
  scan | mixed | malloc_mix | p2p)
  [ -n "${PEMS_TEST_LONG:-}" ] || cases=10 # every tenth
  ;;
ahead)
  [ -n "${PEMS_TEST_LONG:-}" ] || cases=4000 # calls
  ;;
# Elements: more than --pems-sigma below has room for. The ranks take turns for
# each part of them.
order)
  [ -n "${PEMS_TEST_LONG:-}" ] || cases=8000
  ;;
intercomm_coll)
  [ -n "${PEMS_TEST_LONG:-}" ] || cases=20000
  ;;
esac

if [ "${name%.*}" = endings ]; then
  for ending in return-0 return-3 return-3-all exit-0 exit-4 _exit-5 abort \
    segv kill mpi-abort op-abort fatal oom atexit quick-3 exit_group-3; do
    compare -q -n 3 -i unix -c --pems-procs=1 \
      -c "--pems-procs=2 --pems-k=1" "$source" "$ending"
  done
  # Nobody is killed, so what they print is determined; but the Hydra of MPICH 5
  # kills the others of a process that ends so, after MPI_Finalize, too.
  quick="quick-0 exit_group-0"
  [ "$launcher" != hydra ] || launcher_is_4_0 || quick=
  for ending in $quick; do
    compare -n 3 -i unix -c --pems-procs=1 -c "EVICT --pems-procs=1 --pems-k=1" \
      -c "--pems-procs=2 --pems-k=1" "$source" "$ending"
  done
  exit $status
fi
if [ "${name%.*}" = huge ]; then
  # MiB of a message: past 2^31 bytes only where there is time and memory.
  mib=20 memory=200M
  [ -z "${PEMS_TEST_LONG:-}" ] || { mib=2100 memory=7G; }
  compare -n 2 -i unix -c --pems-procs=1 \
    -c "--pems-procs=1 --pems-k=1 --pems-memory=$memory" \
    -c "--pems-procs=2 --pems-k=1" "$source" $mib
  exit $status
fi
if [ "${name%.*}" = between ]; then
  # Offers that hold, none, and, where contexts leave memory, those that do not.
  compare -n "2 5" -i unix -c --pems-procs=1 -c --pems-procs=2 \
    -c "--pems-procs=2 --pems-between=copy" \
    -c "EVICT --pems-procs=2 --pems-k=1 --pems-context=24M" \
    -c "EVICT --pems-procs=3 --pems-k=1 --pems-context=24M --pems-alpha=1" \
    "$source"
  exit $status
fi
if [ "${name%.*}" = event_loops ]; then
  # Room for one context, two, half of all, and, with k = 2, for one and a little.
  compare -r -n 6 -i unix -c "--pems-procs=1 --pems-k=1 --pems-context=24M FIT=1" \
    -c "--pems-procs=1 --pems-k=2 --pems-context=24M FIT=2" \
    -c "--pems-procs=1 --pems-k=2 --pems-memory=60M" \
    -c "--pems-procs=2 --pems-k=1 --pems-context=24M FIT=1 --pems-order=id" \
    "$source" 1 16
  compare -r -n 6 -i unix -c "--pems-procs=1 --pems-k=1 --pems-context=24M FIT=1" \
    -c "--pems-procs=1 --pems-k=2 --pems-context=24M FIT=3" \
    "$source" 1 16 threads
  exit $status
fi
if [ "${name%.*}" = threads_multiple ] || [ "${name%.*}" = unwind ]; then
  compare -n "1 3" -i unix -c --pems-procs=1 \
    -c "EVICT --pems-procs=1 --pems-k=1 --pems-context=24M" \
    -c "EVICT --pems-procs=2 --pems-k=1 --pems-context=24M" \
    -c "EVICT --pems-procs=1 --pems-k=2 --pems-swapin=lazy" "$source"
  exit $status
fi
if [ "${name%.*}" = spawn ] || [ "${name%.*}" = spawn_fortran ]; then
  more=--pems-universe=32
  compare -t -r -n "1 3" -i unix -c "--pems-procs=1 $more" \
    -c "EVICT --pems-procs=1 --pems-k=1 --pems-context=24M $more" \
    -c "EVICT --pems-procs=2 --pems-k=1 --pems-context=24M $more" \
    -c "EVICT --pems-procs=1 --pems-k=1 --pems-swapin=lazy $more" \
    -c "--pems-procs=3 --pems-alpha=1 $more" "$source"
  exit $status
fi
if [ "$launcher:${name%.*}" = hydra:ports ] ||
  [ "$launcher:${name%.*}" = hydra:join ]; then
  echo "SKIP $name: some versions of MPICH open no port here"
  exit 77
fi
if [ "${name%.*}" = random ]; then
  ${SHELL:-sh} "$(dirname "$0")/random.sh"
  exit
fi
if [ "${name%.*}" = memory ]; then
  ${SHELL:-sh} "$(dirname "$0")/matrix.sh" "$source"
  exit
fi
# Open MPI 4.1 makes no windows for one rank alone.
ranks="1 5"
case ${name%.*} in
win_*) ranks="2 5" ;;
esac
if [ -n "${PEMS_TEST_LONG:-}" ]; then
  [ "$ranks" = "1 5" ] || set -- -n "2 3 5 8" "$source"
  compare "$@"
  exit $status
fi
# What goes to disk at each wait does so with each driver, all else with one: which,
# the tests take turns at.
case $(($(echo "$name" | cksum | cut -d ' ' -f 1) % 3)) in
0) first=unix second=mmap third=mem ;;
1) first=mmap second=mem third=unix ;;
*) first=mem second=unix third=mmap ;;
esac
evict='EVICT --pems-procs=1 --pems-k=2 --pems-context=24M'
evict2='EVICT --pems-procs=2 --pems-k=1 --pems-context=24M'
set -- -c "--pems-procs=1 --pems-io=$first" -c "--pems-procs=2 --pems-io=$second" \
  -c "$evict" -c "$evict2 --pems-sigma=64K --pems-io=$third" \
  -c "EVICT --pems-procs=3 --pems-k=1 --pems-context=24M --pems-alpha=1 \
--pems-between=copy --pems-io=$first"
[ "${name%.*}" != process ] || set -- "$@" -c "$evict --pems-swapin=lazy --pems-io=unix"
case ${name%.*} in
alltoall | malloc_mix | mixed) how=lz4 macro=HAVE_LZ4 ;;
p2p | stacks) how=auto macro=HAVE_LZ4 ;;
process | win_fence | win_lock) how=zstd macro=HAVE_ZSTD ;;
*) how='' macro='' ;;
esac
if [ -n "$how" ] && grep -q "define $macro 1" config.h; then
  set -- "$@" -c "$evict --pems-compress=$how --pems-io=unix" \
    -c "$evict2 --pems-compress=$how --pems-io=unix"
fi
# shellcheck disable=SC2086
compare -n "$ranks" "$@" "$source" $cases
exit $status
