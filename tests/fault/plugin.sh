#!/bin/sh
# Ranks open a library whose data does not fit in memory for all that run: who
# opens it waits for room, which those who wait for their turn to open it have.
. "$(dirname "$0")/lib.sh"
build tests/fault/big_library.c
printf '%s\n' 'static char data[60 << 20]; const unsigned long size = sizeof(data);' \
  'char *where(void) { return data; }' >"$work/big.c"
${REAL_CC:-cc} -O1 -fPIC -shared -o "$work/libbig.so" "$work/big.c" ||
  skip "no compiler: ${REAL_CC:-cc}"

for options in '' --pems-procs=2; do
  begin "a library of 60 MiB in each rank: $options"
  # shellcheck disable=SC2086 # options are words
  run -n 4 --pems-k=2 --pems-memory=180M --pems-stats $options "$program" \
    "$work/libbig.so"
  expect_status 0
  expect_output opened
  grep -q 'other data' "$out" && fault "$(cat "$out")"
  grep -q 'RESULT pems .* swaps_out=[1-9]' "$err" || [ -n "$options" ] ||
    fault "nothing was swapped"
  end
done
conclude
