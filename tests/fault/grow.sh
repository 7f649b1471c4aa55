#!/bin/sh
# Ranks of very different sizes, more together than the memory, that grow at the
# same time: each may have nearly all of it, and none waits for ever.
. "$(dirname "$0")/lib.sh"

build tests/fault/grower.c
ranks=6
sizes='110 12 80' # MiB, of ranks 0 and 3, 1 and 4, 2 and 5
all=404

value() {
  sed -n "s/^RESULT .* $1=\([0-9]*\).*/\1/p" "$out" "$err"
}

# grows "name" option...
grows() {
  begin "ranks that grow: $1"
  shift
  # shellcheck disable=SC2086 # $sizes are words
  run -n $ranks --pems-memory=180M --pems-stats "$@" "$program" $sizes
  expect_status 0
  expect_output "^$all MiB in all\$"
  expect_output '^0 wrong$'
  [ "$(value swaps_out)" -gt 0 ] || fault "nothing was swapped"
  expect_clean
  end
}

for k in 1 2 3; do
  grows "k = $k" --pems-k=$k
done
grows "by number" --pems-k=2 --pems-order=id
grows "read when touched" --pems-k=2 --pems-swapin=lazy --pems-track=async
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS
grows "everything swapped at every wait" --pems-k=2
unset PEMS_TEST_EVICT_ALWAYS

begin "a rank that needs more than the memory"
run -n 2 --pems-k=2 --pems-memory=180M "$program" 400 12
expect_status 0
expect_output 'rank 0: malloc failed'
expect_line 'memory of rank 0: 1.0 MiB more: malloc fails: it has 1[0-9]*\..*--pems-memory'
expect_few_lines
expect_clean
end

conclude
