#!/bin/sh
# How often ranks are brought in, by programs that ask until something happens
# (polls.c): for each call that asks, the swaps per useful event, with every
# context swapped at every wait, in one process and in two. An event is that a
# rank finds what it has asked or waited for, which brings it in once. Counts
# vary with the load; ranks that are brought in whenever a slot is free come four
# to ten times as often.
. "$(dirname "$0")/../fault/lib.sh"

ranks=16
rounds=10
# In a round each rank waits in the first two patterns, and all but rank 0 in
# the last; then there are the barriers, and the calls that make the window.
events=$((rounds * (3 * ranks - 1) + 8 * ranks))

"$pemscc" -O1 -o "$work/polls" "$here/tests/mpi/polls.c" || exit 1
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS

# Who waits for one request after another, and has more under way, comes when
# others have run, so once in a round and not twice. The others wait in four
# barriers, of which the last to arrive does not.
"$pemscc" -O1 -o "$work/one_by_one" "$here/tests/mpi/one_by_one.c" || exit 1
begin "one by one"
run -n 8 --pems-k=1 --pems-context=16M --pems-stats "$work/one_by_one" 1 100
expect_status 0
waits=$((100 * 4 * 6))
swaps=$(sed -n 's/^RESULT pems .* swaps_in=\([0-9]*\) .*/\1/p' "$err" |
  head -n 1)
echo "RESULT one_by_one others=$waits swaps=$swaps"
if [ "${swaps:-0}" -lt 1 ] || [ "$swaps" -gt $((waits + 180)) ]; then
  fault "$swaps swaps, of which $waits are those of others, in 100 rounds"
fi
end

for procs in 1 2; do
  # No more than each wait costs, where messages come in one by one and where
  # communicators are made: ranks are not woken in vain.
  "$pemscc" -O1 -o "$work/flood" "$here/tests/mpi/flood.c" || exit 1
  begin "flood, $procs processes"
  run -n 8 --pems-procs=$procs --pems-k=$((3 - procs)) --pems-context=16M \
    --pems-stats "$work/flood" 1 100
  expect_status 0
  waits=$((100 * (8 + 7)))
  swaps=$(sed -n 's/^RESULT pems .* swaps_in=\([0-9]*\) .*/\1/p' "$err" |
    head -n 1)
  echo "RESULT flood P=$procs waits=$waits swaps=$swaps"
  if [ "${swaps:-0}" -lt 1 ] || [ "$swaps" -gt $((2 * waits)) ]; then
    fault "$swaps swaps for $waits waits"
  fi
  end
  for kind in test testall testany testsome get_status iprobe improbe window; do
    begin "$kind, $procs processes"
    run -n $ranks --pems-procs=$procs --pems-k=$((3 - procs)) \
      --pems-context=16M --pems-stats "$work/polls" 1 $kind 100
    expect_status 0
    swaps=$(sed -n 's/^RESULT pems .* swaps_in=\([0-9]*\) .*/\1/p' "$err" |
      head -n 1)
    echo "RESULT polls kind=$kind P=$procs events=$events swaps=$swaps"
    if [ "${swaps:-0}" -lt 1 ] || [ "$swaps" -gt $((3 * events)) ]; then
      fault "$swaps swaps for $events events"
    fi
    end
  done
done
conclude
