#!/bin/sh
# A program that touches little of its memory: what it does not touch is neither
# kept in memory nor moved.
. "$(dirname "$0")/lib.sh"

ranks=6 size=256 steps=4 # MiB, supersteps
build tests/fault/few_pages.c
touched=$((ranks * size * 3 * 4096)) # bytes, of all ranks

# value KEY: of the line of figures.
value() {
  sed -n "s/^RESULT .* $1=\([0-9]*\).*/\1/p" "$out" "$err"
}

# sparse WORD...: the program, with options.
sparse() {
  run -n $ranks --pems-k=1 --pems-memory=370M --pems-context=270M --pems-stats \
    "$@" "$program" $size $steps
  expect_status 0
}

# In memory that holds one rank with all that it may touch, and what others have
# touched, all stay.
for options in '' --pems-swapin=lazy --pems-procs=2; do
  begin "sparse memory stays: $options"
  # shellcheck disable=SC2086 # options are words
  sparse $options
  [ "$(value swaps_out)" -eq 0 ] || fault "$(value swaps_out) were swapped"
  most=$((touched * 3 / 2 + (48 << 20)))
  if [ "$(value peak_rss)" -gt $most ]; then
    fault "$(value peak_rss) bytes of memory, of $touched touched"
  fi
  expect_clean
  end
done

PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS
for options in '' --pems-swapin=lazy --pems-io=uring --pems-procs=2; do
  begin "sparse memory is swapped: $options"
  # shellcheck disable=SC2086 # options are words
  sparse $options
  for key in bytes_read bytes_written; do
    moved=$(value $key)
    if [ "${moved:-0}" -gt $((2 * (steps + 1) * touched)) ]; then
      fault "$key=$moved, of $touched bytes touched in each superstep"
    fi
  done
  [ "$(value swaps_out)" -gt 0 ] || fault "nothing was swapped"
  expect_clean
  end
done

conclude
