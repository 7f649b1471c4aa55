#!/bin/sh
# No data are lost: random programs (tests/mpi/memory.c) with random numbers of
# ranks and processes, memory, drivers and ways to swap, 100 supersteps in all,
# or 10^4 with PEMS_TEST_LONG. What is drawn follows from a seed that is printed;
# PEMS_TEST_SEED repeats it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/budget.sh"
. "$(dirname "$0")/draw.sh"

build tests/mpi/memory.c
if [ -n "${PEMS_TEST_LONG:-}" ]; then
  supersteps=10000
  seed=${PEMS_TEST_SEED:-$(date +%s)}
else
  supersteps=100
  seed=${PEMS_TEST_SEED:-1}
fi
echo "$supersteps supersteps with PEMS_TEST_SEED=$seed"
mkdir "$work/disk/1" "$work/disk/2"
root=$disk

draw_from $((seed * 2654435761 % 4294967296))

# draw: options of a job in $options, $ranks, $programs of $steps supersteps.
draw() {
  one_of 1 2 3 5 7 8 10 12
  ranks=$word
  roll 3
  procs=$((rolled < ranks ? rolled + 1 : 1))
  roll 3
  k=$((rolled < ranks / procs ? rolled + 1 : 1))
  one_of 90 200 300 800 800 2000 5000
  most=$word # KiB
  mu=$((most * 5 / 2 + 640)) # KiB
  one_of 64K 64K 256K 1M
  options="--pems-procs=$procs --pems-k=$k --pems-context=${mu}K \
--pems-sigma=$word"
  roll $((2 * mu / 1024))
  more=$rolled # MiB beyond what k contexts need
  # shellcheck disable=SC2046
  one_of $(moving_drivers) unix mmap fault:unix,delay=100 fault:mem,delay=500
  how="--pems-io=$word"
  one_of alternate id
  how="$how --pems-order=$word"
  one_of eager lazy auto
  # What would end in a warning: it cannot be mapped, or is mapped already.
  case $how in *mem* | *mmap*) word=eager ;; esac
  how="$how --pems-swapin=$word"
  one_of auto async fault off
  # By faults with one process only, and where no block has a whole 2 MiB.
  [ "$word" != fault ] || [ "$procs$mu" = 11140 ] || word=off
  case $how in *mmap*) word=off ;; esac
  how="$how --pems-track=$word"
  one_of 1 2 4 16
  how="$how --pems-depth=$word"
  one_of 0 64K 64K 1M
  [ "$word" = 0 ] || how="$how --pems-stripe=$word"
  one_of "$root" "$root/1,$root/2"
  how="$how --pems-disk=$word"
  one_of '' '' yes
  evict=$word
  roll 12
  steps=$((rolled + 4))
  roll 4
  programs=$((rolled + 1))
}

expect_right() {
  expect_status 0
  expect_silence
  if grep -q FAIL "$out"; then
    fault "$(grep -m 1 FAIL "$out")"
  fi
  if [ "$(grep -o 'failures: 0' "$out" | wc -l)" -ne "$ranks" ]; then
    fault "not all of $ranks ranks said that all is well"
  fi
  mkdir -p "$work/aside"
  mv "$root/1" "$root/2" "$work/aside"
  expect_clean
  mv "$work/aside/1" "$work/aside/2" "$root"
  if [ -n "$(find "$root/1" "$root/2" -type f)" ]; then
    fault "left on the disks: $(find "$root/1" "$root/2" -type f)"
  fi
}

missing_drivers
done=0
swaps=0
while [ $done -lt $supersteps ]; do
  unset PEMS_TEST_EVICT_ALWAYS
  draw
  # shellcheck disable=SC2086
  least_memory -n "$ranks" $options "$program" -h
  how="$how --pems-memory=$((least + 1 + more))M"
  if [ -n "$evict" ]; then
    PEMS_TEST_EVICT_ALWAYS=1
    export PEMS_TEST_EVICT_ALWAYS
  fi
  begin "${evict:+PEMS_TEST_EVICT_ALWAYS=1 }-n $ranks $options $how \
memory -s $((seed + done)) -n $programs -t $steps -m ${most}K"
  # shellcheck disable=SC2086
  run -n "$ranks" --pems-stats $options $how "$program" -s $((seed + done)) -n $programs \
    -t $steps -m "${most}K"
  expect_right
  end
  done=$((done + programs * steps))
  swaps=$((swaps + $(counted swaps_out)))
done
echo "$done supersteps, $swaps contexts swapped out, $failures failed jobs"
[ $swaps -gt 0 ] || failures=$((failures + 1))
conclude
