#!/bin/sh
# Runs memory.c with every driver and every way to find what changed, orders and
# ways to come in spread over them so that each two of these choices meet, with
# memory for one to three contexts; with PEMS_TEST_LONG, all combinations and
# 1000 seeds each. Then with blocks of many MiB. A driver that is not there is
# named and left out.
#
#   matrix.sh memory.c
set -u
source=$1
compare="${SHELL:-sh} $(dirname "$0")/compare.sh"
nl='
'
long=${PEMS_TEST_LONG:-}
tracks="auto async fault off"
orders=$(sed -n 's/^#define POLICIES(X) //p' "$(dirname "$0")/../../src/policy/policy.h" |
  sed 's/X(\([a-z_]*\))/\1/g')
[ -n "$orders" ] || { echo "FAIL matrix: no policies in policy.h"; exit 1; }
swapins="eager lazy parts auto"

# shellcheck source=tests/mpi/drivers.sh
. "$(dirname "$0")/drivers.sh"

# memory and places N: one of the ways to be short of memory.
shortage() {
  case $(($1 % 5)) in
  0) echo "--pems-procs=1 --pems-k=2 FIT=2" ;;
  1) echo "--pems-procs=1 --pems-k=1 FIT=3" ;;
  2) echo "--pems-procs=2 --pems-k=1 FIT=1" ;;
  3) echo "EVICT --pems-procs=1 --pems-k=2 FIT=3 --pems-alpha=1" ;;
  4) echo "--pems-procs=1 --pems-k=1 FIT=1 --pems-stripe=64K --pems-depth=2" ;;
  esac
}

configurations=
# add N DRIVER TRACK ORDER SWAPIN
add() {
  # Tracking by faults is for one process.
  short=$(shortage "$1")
  case $3$short in fault*procs=2*) short=$(shortage 1) ;; esac
  configurations="$configurations$short --pems-context=$context \
--pems-sigma=64K --pems-io=$2 --pems-track=$3 --pems-order=$4 \
--pems-swapin=$5$nl"
}

# run RANKS arguments of memory: with all configurations
failures=0
run() {
  ranks=$1
  shift
  set -- "$source" "$@"
  while [ -n "$configurations" ]; do
    set -- -c "${configurations%%"$nl"*}" "$@"
    configurations=${configurations#*"$nl"}
  done
  $compare -n "$ranks" -i unix "$@" || {
    [ $? -ne 99 ] || exit 99 # out of time: tests/limit.sh
    failures=$((failures + 1))
  }
}

# add_all WHICH: for every driver and track one order and swapin, or all.
add_all() {
  i=0
  for driver in $1; do
    j=0
    for track in $tracks; do
      if [ -n "$long" ]; then
        for order in $orders; do
          for swapin in $swapins; do
            add $((i + j)) "$driver" "$track" "$order" "$swapin"
            i=$((i + 1))
          done
        done
      else
        # shellcheck disable=SC2086
        add $((i + j)) "$driver" "$track" "$(nth $((i + j)) $orders)" \
          "$(nth $((i + 2 * j)) $swapins)"
      fi
      j=$((j + 1))
    done
    i=$((i + 1))
  done
}

context=2M
add_all "$drivers"
if [ -n "$long" ]; then
  run 6 -n 1000 -t 6 -m 800K
else
  run 6 -n 24 -t 6 -m 800K
fi

# Delays move what overlaps.
for track in async fault; do
  add 0 fault:unix,delay=300 $track alternate auto
  add 2 fault:unix,delay=300 $track id lazy
done
run 6 -s 2000 -n "${long:+10}2" -t 6 -m 800K

context=20M
if [ -n "$long" ]; then
  add_all "unix $(nth 2 "$drivers")"
else
  i=0
  for swapin in $swapins; do
    # shellcheck disable=SC2086
    # Not by faults: system calls into large clean blocks fail there.
    add $i "$(nth $i unix $drivers)" "$(nth $i async auto off)" alternate \
      $swapin
    i=$((i + 1))
  done
fi
run 4 -s 5000 -n 3 -t 4 -m 8M

context=110M
[ -n "$long" ] || context=80M
add 1 unix auto alternate eager
add 1 unix async alternate lazy
if [ -n "$long" ]; then
  run 5 -s 6000 -n 20 -t 5 -m 44M
else
  run 3 -s 6000 -n 1 -t 3 -m 32M
fi
[ $failures -eq 0 ]
