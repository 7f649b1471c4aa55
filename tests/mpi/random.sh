#!/bin/sh
# Random programs (random.c) on plain MPI and on pems, with all drivers and with
# memory for all or few of the contexts. What fails is printed with the seed and
# with what repeats it.
#
#   random.sh [-s FIRST-SEED] [-n SEEDS] [-f FEATURES] [-r RANKS]
set -u
folder=$(dirname "$0")
compare="${SHELL:-sh} $folder/compare.sh"
first=1
number=20
features=all
ranks=
[ -z "${PEMS_TEST_LONG:-}" ] || number=1000
while getopts s:n:f:r: option; do
  case $option in
  s) first=$OPTARG ;;
  n) number=$OPTARG ;;
  f) features=$OPTARG ;;
  r) ranks=$OPTARG ;;
  *) exit 2 ;;
  esac
done

# shellcheck source=tests/mpi/drivers.sh
. "$folder/drivers.sh"

# place N: processes, k, memory and ways.
place() {
  case $(($1 % 7)) in
  0) echo "EVICT --pems-procs=1 --pems-k=2" ;;
  1) echo "EVICT --pems-procs=2 --pems-k=1 --pems-sigma=64K" ;;
  2) echo "--pems-procs=1 --pems-k=1 FIT=2" ;;
  3) echo "EVICT --pems-procs=3 --pems-k=1 --pems-alpha=1 --pems-sigma=64K" ;;
  4) echo "--pems-procs=1 --pems-k=2 FIT=2 --pems-order=id" ;;
  5) echo "--pems-procs=2 --pems-k=1 FIT=1 --pems-swapin=lazy" ;;
  6) echo "--pems-procs=1" ;;
  esac
}

# configuration N: driver and place go round with different periods.
configuration() {
  # shellcheck disable=SC2086
  driver=$(nth "$1" $drivers)
  settings=$(place "$1")
  case $driver$settings in # contexts of `mmap` are swapped by the kernel
  mmap*swapin*) settings=$(place 1) ;;
  esac
  echo "$settings --pems-context=40M --pems-io=$driver"
}

status=0
step=20
turn=0
at=$first
while [ "$at" -lt $((first + number)) ]; do
  seeds=$((first + number - at))
  [ "$seeds" -le $step ] || seeds=$step
  n=${ranks:-$(nth "$turn" 4 3 7 2 5 1 8 6)}
  i=0
  set --
  while [ $i -lt 5 ]; do # each driver once
    set -- "$@" -c "$(configuration $((turn * 5 + i + turn)))"
    i=$((i + 1))
  done
  $compare -n "$n" "$@" "$folder/random.c" -s "$at" -n "$seeds" -f "$features"
  ended=$?
  [ $ended -ne 99 ] || exit 99 # out of time: tests/limit.sh
  if [ $ended -ne 0 ]; then
    status=1
    echo "random.sh: seeds $at to $((at + seeds - 1)) on $n ranks: the seed" \
      "that fails is named above, or is the one after the last one printed." \
      "Repeat it with: compare.sh -n $n -c '<options>' random.c -s SEED" \
      "-f $features (see -v there)"
  fi
  at=$((at + seeds))
  turn=$((turn + 1))
done
exit $status
