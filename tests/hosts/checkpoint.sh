#!/bin/sh
# Jobs with checkpoints on several hosts. A directory that hosts do not share is
# refused. When a host is cut off, or all processes of one are killed, the job goes
# on from its last checkpoint on the others: it prints what it would have printed.
. "$(dirname "$0")/lib.sh"
setarch -R true 2>/dev/null || skip "personality(2) is not allowed here"
SAVED='as it was'
export SAVED
build tests/fault/saved.c
few=--pems-memory=200M
shelf=$work/shelf
hold=$work/hold

on_hosts 3
own=$HOSTS_DIR/scratch/ck # on each host another directory

# refused PATTERN ARGS...: nothing runs, on no host.
refused() {
  begin "refused: $1"
  pattern=$1
  shift
  run_hosts "$@"
  expect_status 2
  expect_line "$pattern"
  [ ! -s "$out" ] || fault "something ran"
  end
}

refused 'host node[BC]: checkpoint: .*/ck: not the directory that it is on the first' \
  -n 6 $few --pems-checkpoint="$own" "$program" 4 0
# anew: the directory is empty on each of them.
anew() {
  for node in nodeA nodeB nodeC; do
    rm -rf "$HOSTS_DIR/$node/scratch/ck"
    mkdir "$HOSTS_DIR/$node/scratch/ck"
  done
}
anew
refused 'host node[BC]: checkpoint: .*/ck: not the directory that it is on the first' \
  -n 6 $few --pems-checkpoint="$own" "$program" 4 0
rm -rf "$HOSTS_DIR"/node?/scratch/ck

begin "without checkpoints"
run_hosts -n 6 $few "$program" 40 0
expect_status 0
expect_output 'the end of it: as it was'
cp "$out" "$work/reference"
end

begin "from a checkpoint of each superstep's end, on fewer hosts"
run_hosts -n 6 $few --pems-checkpoint="$shelf,every=30,keep=9" "$program" 40 0
expect_status 0
expect_silence
for hosts in nodeB,nodeC nodeC nodeA,nodeB,nodeC; do
  run_hosts --restart="$shelf/checkpoint-000001" $few --host $hosts
  expect_status 0
  expect_silence
  tail -n "$(wc -l <"$out")" "$work/reference" | cmp -s - "$out" ||
    fault "it does not go on as it was on $hosts"
done
expect_hosts_clean 15
end

# The checkpoints of one run, but of one that is not the same on all.
anew
for node in nodeA nodeB nodeC; do
  cp -a "$shelf/checkpoint-000002" "$HOSTS_DIR/$node/scratch/ck/checkpoint-000002"
done
rm -rf "$HOSTS_DIR/nodeC/scratch/ck/checkpoint-000002"
refused 'host nodeC: checkpoint: .*/ck/checkpoint-000002: No such file' --restart="$own" $few
cp -a "$shelf/checkpoint-000001" "$HOSTS_DIR/nodeC/scratch/ck/checkpoint-000002"
refused 'host nodeC: restart: .*/ck/checkpoint-000002: not the checkpoint that it is' \
  --restart="$own" $few
rm -rf "$HOSTS_DIR"/node?/scratch/ck

if [ -z "${PEMS_TEST_LONG:-}" ]; then
  echo "SKIP hosts that are lost: set PEMS_TEST_LONG=1 (make check-long)"
  conclude
fi

has_checkpoint() {
  [ -n "$(find "$shelf" -name manifest -path '*/checkpoint-*' 2>/dev/null)" ]
}

# lost TITLE HOSTS COMMAND...: the command takes a host away; the job restarts on
# these.
lost() {
  begin "$1"
  on=$2
  shift 2
  rm -rf "$shelf"
  : >"$hold.20"
  start_hosts -n 6 $few --pems-checkpoint="$shelf,every=5" "$program" 40 0 '' "$hold"
  await 'step 18'
  until_seconds "$limit" has_checkpoint || fault "no checkpoint was taken"
  "$@"
  finish
  expect_failure
  expect_line 'lost|died'
  hosts_kill
  hosts_mend nodeC
  rm -f "$hold".*
  cp "$out" "$work/before"
  find "$HOSTS_DIR"/*/scratch "$HOSTS_DIR"/shm/* "$HOSTS_DIR"/*/tmp -mindepth 1 -delete
  run_hosts --restart="$shelf" $few --host "$on" --pems-checkpoint="$shelf,every=5"
  expect_status 0
  expect_silence
  tail -n "$(wc -l <"$out")" "$work/reference" | cmp -s - "$out" ||
    fault "it does not go on as it was"
  [ $(($(wc -l <"$out") + $(wc -l <"$work/before"))) -ge "$(wc -l <"$work/reference")" ] ||
    fault "lines are lost"
  expect_hosts_clean 15
  end
}

kill_host() {
  # shellcheck disable=SC2046 # a list
  kill -KILL $(hosts_pids nodeC)
}
lost "a host is cut off" nodeA,nodeB hosts_cut nodeC
lost "all processes of a host are killed" nodeB,nodeA kill_host
conclude
