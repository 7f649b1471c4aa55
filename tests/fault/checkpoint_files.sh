#!/bin/sh
# What ranks have of the system and of the C library goes on from a checkpoint,
# too: files and streams, also those of C++ and Fortran, actions for signals,
# timers, keys, locale, random numbers. What was written after the checkpoint is
# cut off. What cannot be opened again is named, and the job goes on without.
# A job that is told to end by SIGTERM takes a checkpoint first.
. "$(dirname "$0")/checkpoint_lib.sh"

files=$work/files
build tests/fault/kept.c
kept=$program

fresh() {
  rm -rf "$files" "$shelf"
  mkdir "$files"
  seq 1000 1099 >"$files/in"
  mkfifo "$files/fifo"
}

# The file of all ranks has lines in any order.
sorted() {
  if [ -e "$1/all" ]; then
    sort -o "$1/all" "$1/all"
  fi
}

# kept NAME PROGRAM: killed at some steps, and restarted twice.
kept() {
  fresh
  begin "$1: without checkpoints"
  run -n 4 "$2" 30 "$files" "$hold"
  expect_status 0
  expect_silence
  expect_output 'step 29'
  cp "$out" "$work/reference"
  sorted "$files"
  rm -rf "$work/files.reference"
  mv "$files" "$work/files.reference"
  end
  round=0
  for options in "--pems-procs=1 --pems-memory=64M" "--pems-procs=2"; do
    round=$((round + 1))
    fresh
    begin "$1: killed and restarted twice ($options)"
    : >"$hold.$((6 + round))"
    # shellcheck disable=SC2086 # these are words
    PEMS_TEST_EVICT_ALWAYS=1 start -n 4 $options \
      --pems-checkpoint="$shelf,every=3" "$2" 30 "$files" "$hold"
    await "step $((4 + round))"
    await_checkpoint
    kill_all "$2"
    finish
    cp "$out" "$work/before"
    echo junk | tee -a "$files/out.1" "$files/out.0" >/dev/null
    : >"$hold.19"
    # shellcheck disable=SC2046
    start --restart="$shelf" --pems-checkpoint="$shelf,every=4" $(other "$round")
    await "step 17"
    kill_all "$2"
    finish
    cat "$out" >>"$work/before"
    goes_on $((round + 1)) "$work/reference"
    sorted "$files"
    diff -r -x fifo "$work/files.reference" "$files" >"$work/diff" ||
      fault "files differ: $(head -n 5 "$work/diff")"
    end
  done
}

kept C "$kept"
cp "$work/reference" "$work/reference.C"
if "${PEMSCXX:-pemscxx}" -O1 -o "$work/kept_cxx" "$here/tests/fault/kept_cxx.cc" \
  >"$work/cxx" 2>&1; then
  kept C++ "$work/kept_cxx"
else
  sed 's/^/SKIP C++: /' "$work/cxx"
fi
if "${PEMSFORT:-pemsfort}" -O1 -o "$work/kept_fortran" \
  "$here/tests/fault/kept_fortran.f90" >"$work/fortran" 2>&1; then
  kept Fortran "$work/kept_fortran"
else
  sed 's/^/SKIP Fortran: /' "$work/fortran"
fi

# --- what cannot be opened again, or is not saved ---

for what in removed:'removed, or replaced' replaced:'removed, or replaced' \
  temporary:'C library' wide:'wide characters' folder:'open directory' \
  socket:'socket' pipe:'pipe' process:'pipe' fifo:'fifo' \
  terminal:'ptmx' timer:'timer_create' copy:'a file is open: .*raw.1' \
  segment:"System V's" plugin:'a library: .*libresolv' protected:'mprotect' \
  part:'mappings of files that were changed in part: .*record.0' \
  locale:'C library' text:'C library' coroutine:"a stack of its program's own"; do
  fresh
  begin "in the way: ${what%%:*}"
  run -n 3 --pems-procs=1 --pems-checkpoint="$shelf,every=2" "$kept" 12 "$files" "$hold" \
    "${what%%:*}"
  expect_status 0
  expect_line "no checkpoint at superstep [0-9]+: .*${what#*:}.*: the job goes on"
  expect_output 'the end of 12'
  [ "${what%%:*}" = wide ] || cat "$shelf"/checkpoint-*/manifest |
    grep -q '^superstep 12$' || fault "none was taken when it was gone"
  expect_clean
  end
done

begin "files that are gone, or too short"
fresh
run -n 3 --pems-checkpoint="$shelf,every=5" "$kept" 14 "$files" "$hold"
mv "$files/raw.1" "$work/raw.1"
run --restart="$shelf"
expect_status 2
expect_line 'restart: a file of rank 1: .*raw.1: No such file'
head -c 10 "$work/raw.1" >"$files/raw.1"
cp "$files/out.0" "$work/out.0"
run --restart="$shelf"
expect_status 2
expect_line 'restart: a file of rank 1: .*raw.1: it has 10 bytes now, and had'
cp "$work/raw.1" "$files/raw.1"
touch "$files/in"
run --restart="$shelf"
expect_status 2
expect_line 'restart: a file that rank 0 has mapped: .*/in: it was written to since'
cmp -s "$files/out.0" "$work/out.0" || fault "another file was cut already"
expect_clean
end

for procs in 1 3; do
  begin "all ranks ask for a checkpoint, $procs processes"
  fresh
  run -n 4 --pems-procs=$procs --pems-checkpoint="$shelf" "$kept" 12 "$files" "$hold" ask
  expect_status 0
  expect_silence
  taken=$(cat "$shelf"/checkpoint-*/manifest | grep '^superstep')
  [ "$taken" = 'superstep 8' ] || fault "not one, or not there: $taken"
  end
done

begin "where none are taken, who asks is told"
fresh
run -n 2 "$kept" 12 "$files" "$hold" ask
expect_failure
grep -q 'there are no checkpoints' "$err" || fault "it was not told"
end

# --- SIGTERM ---

for procs in 1 2; do
  begin "SIGTERM takes a checkpoint and ends the job, $procs processes"
  fresh
  : >"$hold.5"
  start -n 4 --pems-procs=$procs --pems-checkpoint="$shelf,on-term" "$kept" 30 \
    "$files" "$hold"
  await 'step 4'
  kill -TERM "$job"
  sleep 1
  kill -0 "$job" 2>/dev/null || fault "it has not waited"
  rm "$hold.5"
  finish
  expect_status 143
  expect_line 'SIGTERM: superstep [0-9]+: the job ends with its checkpoint: .*--restart='
  cp "$out" "$work/before"
  goes_on $procs "$work/reference.C"
  end
done

begin "a second SIGTERM does not wait"
fresh
: >"$hold.5"
start -n 4 --pems-procs=2 --pems-checkpoint="$shelf,on-term" "$kept" 30 "$files" "$hold"
await 'step 4'
kill -TERM "$job"
sleep 1
kill -TERM "$job"
# Two that come before the first is seen are one.
until_seconds 30 has_ended || kill -TERM "$job"
finish
rm -f "$hold".*
expect_status 143
expect_line 'interrupted: SIGTERM'
expect_clean
end

conclude
