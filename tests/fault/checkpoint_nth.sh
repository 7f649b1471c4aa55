#!/bin/sh
# A checkpoint that is not written to its end, wherever that is: the process is
# killed before the n-th change of a file or folder, or that change fails, for
# every n of a small job's second checkpoint and the removal of older ones. The
# one before, or the new one if it is complete, goes on to the right end, with
# checkpoints again, and nothing that was left is in the way. Usually some n,
# with PEMS_TEST_LONG all.
. "$(dirname "$0")/checkpoint_lib.sh"
. "$(dirname "$0")/budget.sh"

SAVED='as it was'
export SAVED
build tests/fault/saved.c
saved=$program
first=$work/first # as the first checkpoint has left it

begin "without faults"
run -n 3 "$saved" 20 0
expect_status 0
cp "$out" "$work/reference"
end

begin "the first checkpoint"
: >"$hold.5"
start -n 3 --pems-procs=1 --pems-checkpoint="$shelf,every=6" "$saved" 20 0 '' "$hold"
await_checkpoint
kill_all "$saved"
finish
mv "$shelf" "$first"
end

# no_temporary: nothing half done is there, and no more than what is kept.
no_temporary() {
  [ -z "$(find "$shelf" -mindepth 1 -maxdepth 1 ! -name 'checkpoint-*' ! -name lock)" ] ||
    fault "left: $(find "$shelf" -mindepth 1 -maxdepth 1 | tr '\n' ' ')"
  [ "$(find "$shelf" -name 'checkpoint-*' | wc -l)" -le 2 ] ||
    fault "old ones are left: $(find "$shelf" -name 'checkpoint-*' | tr '\n' ' ')"
  pemsinfo --checkpoint="$shelf" >"$work/shown" 2>&1 ||
    fault "$(tail -n 1 "$work/shown")"
}

# broken HOW N PROCESSES: a job goes on from the first checkpoint, and takes two
# more and one at its end, of which the N-th change fails; keep=1, so that the
# first is removed. What is left goes on again. Status 1: it had fewer changes.
broken() {
  rm -rf "$shelf"
  cp -a "$first" "$shelf"
  begin "$3 processes: change $2: $1"
  PEMS_TEST_CHECKPOINT=$1:$2 run --restart="$shelf" --pems-procs="$3" \
    --pems-checkpoint="$shelf,every=18,keep=1"
  ended=$status
  case $1$ended in
    kill0 | eio0)
      tail -n "$(wc -l <"$out")" "$work/reference" | cmp -s - "$out" ||
        fault "it does not go on as it was"
      ;;
    kill*) expect_few_lines ;;
    *) fault "status $ended" ;;
  esac
  said=$(grep -c 'no checkpoint at superstep .*: Input/output error: the job goes on' "$err")
  [ "$(pems_lines)" -eq "$said" ] || [ "$1" = kill ] || fault "it says something else"
  resumes "$work/reference" --restart="$shelf" --pems-procs=1 \
    --pems-checkpoint="$shelf,every=13"
  no_temporary
  expect_clean
  end
  [ "$ended" -ne 0 ] || [ "$said" -gt 0 ]
}

# count PROCESSES: $changes of a job that goes on from the first checkpoint.
count() {
  changes=0
  step=64
  while [ $step -gt 0 ]; do # the largest n that is killed
    rm -rf "$shelf"
    cp -a "$first" "$shelf"
    PEMS_TEST_CHECKPOINT=kill:$((changes + step)) run --restart="$shelf" \
      --pems-procs="$1" --pems-checkpoint="$shelf,every=18,keep=1"
    if [ "$status" -eq 0 ]; then
      step=$((step / 2))
    else
      changes=$((changes + step))
    fi
  done
  echo "$changes changes, $1 processes"
}

# tried FIRST SPREAD: which of the changes are tried.
tried() {
  if [ -n "${PEMS_TEST_LONG:-}" ]; then
    seq 1 "$changes"
  else
    seq 1 "$changes" | awk -v most="$changes" -v first="$1" -v spread="$2" \
      'BEGIN { step = int(most / spread) + 1 }
       $1 <= first || $1 % step == 0 || $1 > most - first'
  fi
}

for procs in 1 2; do
  count $procs
  [ "$changes" -ge 40 ] || {
    echo "FAIL too few changes to be a test"
    failures=$((failures + 1))
  }
  for how in kill eio; do
    for n in $(tried 2 4); do
      broken $how "$n" $procs
    done
  done
done

# --- the scratch disk fails while one is written ---

begin "the scratch disk fails"
rm -rf "$shelf"
cp -a "$first" "$shelf"
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS
run --restart="$shelf" --pems-stats --pems-io=fault:unix --pems-procs=1 --pems-k=1 \
  --pems-checkpoint="$shelf,every=4"
expect_status 0
reads=$(counted reads)
end
[ "$reads" -ge 10 ] || {
  echo "FAIL only $reads reads: too few to be a test"
  failures=$((failures + 1))
}
for n in $((reads / 8)) $((reads / 3)) $((reads / 2)) $((reads * 3 / 4)); do
  begin "read $n of $reads of the scratch disk fails"
  rm -rf "$shelf"
  cp -a "$first" "$shelf"
  run --restart="$shelf" --pems-io="fault:unix,read=$n:EIO" --pems-procs=1 --pems-k=1 \
    --pems-checkpoint="$shelf,every=4"
  expect_status 1
  expect_line 'Input/output error'
  resumes "$work/reference" --restart="$shelf" --pems-procs=1 \
    --pems-checkpoint="$shelf,every=4"
  no_temporary
  expect_clean
  end
done
unset PEMS_TEST_EVICT_ALWAYS

# --- the disk of the checkpoints becomes full ---

small=$work/small
mkdir "$small"
if mount_small "$small" 16; then
  begin "a disk that becomes full after the first one"
  cp -a "$first" "$small/shelf"
  shelf=$small/shelf
  fill_small "$small"
  truncate -s -128K "$small/filler" # room for some of a checkpoint
  run --restart="$shelf" --pems-checkpoint="$shelf,every=4,keep=9"
  expect_status 0
  expect_line 'no checkpoint at superstep .*No space left.*: the job goes on'
  tail -n "$(wc -l <"$out")" "$work/reference" | cmp -s - "$out" ||
    fault "it does not go on as it was"
  resumes "$work/reference" --restart="$shelf"
  rm "$small/filler"
  resumes "$work/reference" --restart="$shelf" --pems-checkpoint="$shelf,every=4"
  no_temporary
  expect_clean
  unmount_small
  end
else
  echo "SKIP: cannot mount file systems"
fi
conclude
