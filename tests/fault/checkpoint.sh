#!/bin/sh
# Jobs that are killed at any moment and go on from a checkpoint, with other
# processes, k, memory and drivers than before: what they print is what they
# would have printed. What cannot be saved is said, and the job goes on; what was
# changed, cut off or is of another program is refused.
. "$(dirname "$0")/checkpoint_lib.sh"

SAVED='as it was'
export SAVED
build tests/fault/saved.c -fstack-protector-all
saved=$program
build apps/psrs.c
psrs=$program

# held STEP COMMAND...: the job stays before that step, with what it printed in the
# one before not yet written, until it is killed, however
# busy the machine is.
held() {
  held=$hold.$1
  shift
  : >"$held"
  "$@"
}

begin "a job without checkpoints"
run -n 5 "$saved" 40 0
expect_status 0
expect_output 'the end of it: as it was'
expect_output 'at end: 781'
cp "$out" "$work/reference"
end

round=0
for options in "--pems-procs=1" "--pems-procs=2" "--pems-procs=1 --pems-memory=64M" \
  "--pems-procs=2 --pems-io=mmap"; do
  round=$((round + 1))
  rm -rf "$shelf"
  begin "killed and restarted twice ($options)"
  # shellcheck disable=SC2086 # these are words
  PEMS_TEST_EVICT_ALWAYS=1 held $((5 + round * 4)) start -n 5 $options \
    --pems-checkpoint="$shelf,every=3" "$saved" 40 0 '' "$hold"
  await "step $((3 + round * 4))"
  await_checkpoint
  kill_all "$saved"
  finish
  cp "$out" "$work/before"
  SAVED='other' goes_on $round "$work/reference"
  # The second time it takes checkpoints again.
  # shellcheck disable=SC2046
  held $((22 + round)) start --restart="$shelf" \
    --pems-checkpoint="$shelf,every=5" $(other $((round + 1)))
  await "step $((20 + round))"
  kill_all "$saved"
  finish
  cat "$out" >>"$work/before"
  goes_on $((round + 2)) "$work/reference"
  end
done

# Each asks the job for a checkpoint now.
signal_processes() {
  for pid in $(running "$saved"); do
    kill -USR1 "$pid"
  done
}

signal_shelf() {
  "$pemsrun" --signal="$shelf" >"$work/signal" 2>&1 ||
    fault "--signal: $(cat "$work/signal")"
  [ ! -s "$work/signal" ] || fault "--signal speaks: $(cat "$work/signal")"
}

# asked COMMAND: nothing else asks for one.
asked() {
  begin "one asked for by $1, with several processes"
  rm -rf "$shelf"
  held 39 start -n 5 --pems-procs=3 --pems-checkpoint="$shelf" "$saved" 40 20 '' "$hold"
  await 'step 4'
  "$1"
  await_checkpoint
  kill_all "$saved"
  finish
  cp "$out" "$work/before"
  goes_on 0 "$work/reference"
  end
}
asked signal_processes
asked signal_shelf

begin "by time, with several processes"
rm -rf "$shelf"
start -n 5 --pems-procs=2 --pems-checkpoint="$shelf,every=1s" "$saved" 40 100
await_checkpoint
kill_all "$saved"
finish
cp "$out" "$work/before"
goes_on 3 "$work/reference"
end

begin "all calls are on a duplicate of MPI_COMM_WORLD"
rm -rf "$shelf"
run -n 5 --pems-procs=2 --pems-checkpoint="$shelf,every=25,keep=9" "$saved" 40 20 dup
expect_status 0
expect_silence
cmp -s "$work/reference" "$out" || fault "checkpoints change what it prints"
for number in 1 2 3; do
  # shellcheck disable=SC2046
  resumes "$work/reference" --restart="$shelf/checkpoint-00000$number" $(other $number)
done
expect_clean
end

begin "PSRS, swapped, from each of its supersteps"
rm -rf "$shelf"
run -n 8 --pems-procs=2 --pems-memory=64M --pems-checkpoint="$shelf,every=1,keep=9" \
  "$psrs" 2000000
expect_status 0
expect_silence
expect_output 'sorted=1 count_ok=1 checksum_ok=1'
for checkpoint in "$shelf"/checkpoint-*; do
  round=$((round + 1))
  # shellcheck disable=SC2046
  run --restart="$checkpoint" $(other $round)
  expect_status 0
  expect_silence
  expect_output 'sorted=1 count_ok=1 checksum_ok=1'
done
[ "$(find "$shelf" -name manifest | wc -l)" -ge 5 ] || fault "too few supersteps"
expect_clean
end

# --- what cannot be saved ---

for kind in class:'error classes' mapping:'mappings' thread:'threads' \
  multiple:'threads, or MPI_THREAD_MULTIPLE' pipe:'a file is open: pipe'; do
  rm -rf "$shelf"
  begin "in the way: ${kind%%:*}"
  run -n 3 --pems-checkpoint="$shelf,every=2" "$saved" 12 0 "${kind%%:*}"
  expect_status 0
  expect_line "no checkpoint at superstep [0-9]+: .*${kind#*:}.*: the job goes on"
  expect_output 'the end of it'
  [ -z "$(find "$shelf" -name '.new*')" ] || fault "something half done is left"
  expect_clean
  end
done

# --- a disk without room ---

begin "a disk without room"
small=$work/small
mkdir "$small"
if mount_small "$small" 2; then
  run -n 8 --pems-checkpoint="$small/shelf,every=1" "$psrs" 2000000
  expect_status 0
  expect_line 'no checkpoint at superstep .*No space left.*: the job goes on'
  expect_output 'sorted=1'
  end
  begin "a disk without any room"
  rm -rf "$small/shelf"
  fill_small "$small"
  run -n 3 --pems-checkpoint="$small/shelf" "$saved" 4 0
  expect_status 2
  expect_line 'checkpoint: .*small/shelf.*: No space left'
  [ ! -s "$out" ] || fault "something ran"
  unmount_small
else
  echo "SKIP: cannot mount file systems"
fi
end

# --- bad input ---

rm -rf "$shelf"
run -n 3 --pems-checkpoint="$shelf,every=4,keep=9" "$saved" 12 0
newest=$(find "$shelf" -name 'checkpoint-*' | sort | tail -n 1)

# Sums of all that is there.
kept_there() {
  (cd "$1" && find . -type f ! -name lock -exec cksum {} + | sort)
}

# in_vain PATTERN OPTION...: nothing runs, and nothing is overwritten.
in_vain() {
  pattern=$1
  shift
  kept_there "$shelf" >"$work/there"
  run "$@"
  expect_status 2
  expect_line "$pattern"
  [ ! -s "$out" ] || fault "something ran"
  kept_there "$shelf" | cmp -s - "$work/there" || fault "checkpoints were changed"
}

# refused PATTERN OPTION...: by one line.
refused() {
  begin "refused: $1"
  in_vain "$@"
  expect_clean
  end
}

refused 'give DIR,every' -n 3 --pems-checkpoint="$shelf,often" "$saved" 4 0
refused 'there are checkpoints of another run' \
  -n 3 --pems-checkpoint="$shelf" "$saved" 4 0
refused 'of 3 ranks, not 4' -n 4 --restart="$shelf"
refused 'restart: .*psrs' -n 3 --restart="$shelf" "$psrs" 1000
refused 'argument 1 of the program was 12, and is 13: leave them out' \
  --restart="$shelf" "$saved" 13 0
refused 'argument 2 of the program was 0, and is none: leave them out' \
  --restart="$shelf" "$saved" 12
refused 'there is none' --restart="$disk"
refused 'No such file' --restart="$work/nowhere"
refused 'No such file' -n 3 --pems-checkpoint="$work/no/where" "$saved" 4 0
refused 'checkpoint: .*shelf: no job writes there' --signal="$shelf"
refused 'checkpoint: .*/no/where: No such file' --signal "$work/no/where"
refused 'signal: no value' --signal
refused 'cannot be used with --pems-tag' -n 3 --pems-tag \
  --pems-checkpoint="$work/new" "$saved" 4 0

cp "$newest/manifest" "$work/kept"
sed -i 's/^superstep .*/superstep 5/' "$newest/manifest"
refused 'manifest: it is not as pems wrote it' --restart="$shelf"
cp "$work/kept" "$newest/manifest"
cp "$newest/identity" "$work/kept"
printf '\001' | dd of="$newest/identity" bs=1 seek=20 conv=notrunc 2>/dev/null
refused 'identity: it was changed: restart from the one before' --restart="$shelf"
cp "$work/kept" "$newest/identity"
mv "$newest/files-0" "$work/kept"
mkfifo "$newest/files-0"
refused 'files-0: not a regular file: restart from the one before' --restart="$shelf"
rm "$newest/files-0"
mv "$work/kept" "$newest/files-0"
cp "$newest/rank-1" "$work/kept"
truncate -s -100 "$newest/rank-1"
refused 'rank-1: [0-9]+ bytes instead of [0-9]+' --restart="$shelf"
printf 'x' | dd of="$newest/rank-1" bs=1 seek=5000 conv=notrunc 2>/dev/null
truncate -s "$(wc -c <"$work/kept")" "$newest/rank-1"
refused 'rank-1: byte [0-9]+: .*: restart from the one before' --restart="$shelf"

begin "pemsinfo tells of a changed one, and of a good one"
pemsinfo=$(dirname "$(command -v "$pemsrun")")/pemsinfo
"$pemsinfo" --checkpoint="$shelf" >"$out" 2>"$err"
# shellcheck disable=SC2034 # expect_status reads it
status=$?
expect_status 1
expect_line 'rank-1: byte'
cp "$work/kept" "$newest/rank-1"
"$pemsinfo" --checkpoint="$shelf" >"$out" 2>"$err"
# shellcheck disable=SC2034
status=$?
expect_status 0
expect_silence
expect_output '^ranks  *3$'
expect_output '^sound'
expect_output "^program  *$saved 12 0$"
end

begin "a directory that has checkpoints of another run"
run -n 3 --pems-checkpoint="$work/other,every=4" "$saved" 12 0
cp -a "$work/other" "$work/other.was"
run --restart="$shelf" --pems-checkpoint="$work/other"
expect_status 2
expect_line 'there are checkpoints of another run'
diff -r -x lock "$work/other" "$work/other.was" >"$work/diff" || fault "$(cat "$work/diff")"
end

begin "a manifest of another checkpoint"
set -- "$work"/other/checkpoint-*
cp "$1/manifest" "$2/manifest"
run --restart="$work/other"
expect_status 2
expect_line 'checkpoint: .*other/checkpoint-.*: .*: restart from the one before'
end

# again WHAT PATTERN: the checkpoint is of something else now.
again() {
  begin "restarted with another $1"
  in_vain "$2" --restart="$shelf"
  expect_clean
  end
}

# A C library that is the same but for its build-id.
libc=$(ldd "$pemsinfo" | sed -n 's/.*libc\.so\.6 => \([^ ]*\) .*/\1/p')
mkdir "$work/libc"
if [ -n "$libc" ] && "${PERL:-perl}" -0777 -pe \
  's/(\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0)(.)/$1.chr(ord($2) ^ 1)/se' \
  "$libc" >"$work/libc/libc.so.6" && ! cmp -s "$libc" "$work/libc/libc.so.6"; then
  before=${LD_LIBRARY_PATH:-}
  LD_LIBRARY_PATH=$work/libc:$before
  export LD_LIBRARY_PATH
  again "C library" 'restart: .*(libc\.so\.6|another C library)'
  LD_LIBRARY_PATH=$before
else
  echo "SKIP: no C library to change"
fi
cp -p "$saved" "$work/saved.first"
build tests/fault/saved.c -O2
again "version of the program" 'another version of a file: .*saved: it was'
mv "$work/saved.first" "$saved"
begin "restarted with what it was of"
run --restart="$shelf"
expect_status 0
expect_output 'the end of it'
end

begin "two jobs with one directory; a restart while the job runs"
rm -rf "$shelf"
: >"$hold.9"
"$pemsrun" -n 2 --pems-disk="$disk" --pems-checkpoint="$shelf,every=4" \
  "$saved" 12 0 '' "$hold" >/dev/null 2>&1 &
first=$!
# shellcheck disable=SC2034 # which await_checkpoint and kill_all look at
job=$first
await_checkpoint
for options in "-n 2 --pems-checkpoint=$shelf $saved 4 0" "--restart=$shelf" \
  "--restart=$shelf --pems-checkpoint=$shelf" \
  "--restart=$shelf --pems-checkpoint=$work/third"; do
  # shellcheck disable=SC2086 # these are words
  run $options
  expect_status 2
  expect_line 'a job that runs writes there'
  [ ! -s "$out" ] || fault "something ran"
done
# shellcheck disable=SC2034
job=$first
kill_all "$saved"
wait $first
run --restart="$shelf"
expect_status 0
expect_output 'the end of it'
end

conclude
