#!/bin/sh
# Jobs whose ranks have requests and messages under way at every superstep go on
# from each checkpoint, with other processes, k, memory and drivers than before:
# what they print is what they would have printed.
. "$(dirname "$0")/checkpoint_lib.sh"

build tests/fault/underway.c
underway=$program
late=$work/late
round=0

# from_all SHELF REFERENCE LEAST: the job goes on from each checkpoint there, of
# which there are at least so many.
from_all() {
  [ "$(find "$1" -name manifest | wc -l)" -ge "$3" ] ||
    fault "supersteps without a checkpoint"
  for checkpoint in "$1"/checkpoint-*; do
    round=$((round + 1))
    # shellcheck disable=SC2046 # these are words
    resumes "$2" --restart="$checkpoint" $(other $round)
    expect_output 'the end of it'
  done
}

# from_each KINDS OPTION...: the program runs with a checkpoint at each superstep,
# and goes on from each of them.
from_each() {
  kinds=$1
  shift
  begin "messages under way: ${kinds:-all} ($*)"
  rm -rf "$shelf"
  : >"$late"
  run -n 5 "$@" --pems-checkpoint="$shelf,every=1,keep=99" \
    "$underway" 3 "$kinds" "$late" "$shelf"
  rm -f "$late"
  expect_status 0
  expect_silence
  cmp -s "$work/plain$kinds" "$out" || fault "checkpoints change what it prints"
  cp "$out" "$work/reference"
  from_all "$shelf" "$work/reference" 9
  expect_clean
  end
}

for kinds in s lf "" ; do
  begin "without checkpoints: ${kinds:-all}"
  run -n 5 "$underway" 3 "$kinds"
  expect_status 0
  cp "$out" "$work/plain$kinds"
  end
done

from_each s --pems-procs=1
from_each lf --pems-procs=2
from_each "" --pems-procs=1
PEMS_TEST_EVICT_ALWAYS=1 from_each "" --pems-procs=1 --pems-k=1
from_each "" --pems-procs=3
from_each "" --pems-procs=2 --pems-memory=64M

begin "checkpoints of what goes on from one"
rm -rf "$work/again"
run --restart="$shelf/checkpoint-000002" --pems-procs=1 \
  --pems-checkpoint="$work/again,every=1,keep=99"
expect_status 0
expect_silence
from_all "$work/again" "$work/reference" 8
expect_clean
end

for write in 3 60 130; do
  begin "write $write fails"
  rm -rf "$shelf"
  PEMS_TEST_CHECKPOINT=eio:$write run -n 5 --pems-procs=1 \
    --pems-checkpoint="$shelf,every=1,keep=99" "$underway" 3
  expect_status 0
  expect_line 'no checkpoint at superstep .*: Input/output error: the job goes on'
  cmp -s "$work/plain" "$out" || fault "it does not go on as it was"
  from_all "$shelf" "$work/plain" 8
  expect_clean
  end
done

conclude
