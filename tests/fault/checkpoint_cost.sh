#!/bin/sh
# Who has written its file at a call goes on into it: its memory is not read from
# disk once more because of the checkpoint. And a checkpoint has no more bytes than
# there are in the memory of ranks.
. "$(dirname "$0")/checkpoint_lib.sh"

RANKS=6 MIB=4 STEPS=8
build tests/fault/touching.c

# read_by OPTION...: $bytes that the job reads from disks, where all that wait
# leave the memory.
read_by() {
  PEMS_TEST_EVICT_ALWAYS=1 run -n $RANKS --pems-procs=1 --pems-k=1 --pems-stats \
    "$@" "$program" $MIB $STEPS
  expect_status 0
  bytes=$(sed -n 's/.*bytes_read=\([0-9]*\).*/\1/p' "$err")
  [ "${bytes:-0}" -gt 0 ] || fault "it does not say how much it has read"
}

begin "a rank's memory is read once a step, with a checkpoint at each"
read_by
without=$bytes
cp "$out" "$work/reference"
read_by --pems-checkpoint="$shelf,every=1,keep=99"
with=$bytes
sort "$out" >"$work/sorted"
sort "$work/reference" | cmp -s - "$work/sorted" || fault "checkpoints change the output"
# Where it were read twice: twice as much.
[ "$with" -lt $((without * 3 / 2)) ] ||
  fault "$with bytes were read with checkpoints, $without without"
[ "$(find "$shelf" -name manifest | wc -l)" -eq $STEPS ] || fault "checkpoints are missing"
largest=$(du -sk "$shelf"/checkpoint-* | sort -n | tail -n 1 | cut -f 1)
[ "$largest" -lt $((RANKS * (MIB + 1) * 1024)) ] || fault "a checkpoint has $largest KiB"
end

begin "from each of them"
sort "$work/reference" >"$work/reference.sorted"
for checkpoint in "$shelf"/checkpoint-*; do
  number=$((${number:-0} + 1))
  # shellcheck disable=SC2046 # these are words
  run --restart="$checkpoint" $(other $number)
  expect_status 0
  expect_silence
  sort "$out" | cmp -s - "$work/reference.sorted" || fault "it does not go on as it was: $checkpoint"
done
expect_clean
end

conclude
