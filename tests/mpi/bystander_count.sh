#!/bin/sh
# Ranks are not brought in for what others can do without them (bystander.c):
# for large messages that they send while they wait for something else, and for
# collective operations that go on meanwhile. With every context swapped at
# every wait, in one process and in two, the swaps are counted: about one for
# each rank and round, where one more for each would be wrong.
. "$(dirname "$0")/../fault/lib.sh"

ranks=8
rounds=40
events=$((rounds * ranks))

"$pemscc" -O1 -o "$work/bystander" "$here/tests/mpi/bystander.c" || exit 1
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS

for procs in 1 2; do
  for kind in send allreduce reduce barrier bcast; do
    begin "$kind, $procs processes"
    run -n $ranks --pems-procs=$procs --pems-k=$((3 - procs)) \
      --pems-context=16M --pems-stats "$work/bystander" 1 $kind $rounds
    expect_status 0
    swaps=$(sed -n 's/^RESULT pems .* swaps_in=\([0-9]*\) .*/\1/p' "$err" |
      head -n 1)
    echo "RESULT bystander kind=$kind P=$procs events=$events swaps=$swaps"
    if [ "${swaps:-0}" -lt 1 ] || [ "$swaps" -gt $((events * 3 / 2)) ]; then
      fault "$swaps swaps for $events events"
    fi
    end
  done
done
conclude
