#!/bin/sh
# Scratch space on a FUSE file system that fails, shortens and dies on purpose.
. "$(dirname "$0")/lib.sh"

# A third of what other tests swap: each byte goes through another process.
array=16 budget='--pems-memory=96M --pems-context=24M'
mnt=$work/mnt
back=$work/back
control=$work/control
mkdir "$mnt" "$back"

[ -w /dev/fuse ] || skip "/dev/fuse cannot be used here"
flags=$(pkg-config --cflags --libs fuse3 2>/dev/null) ||
  skip "libfuse3 was not found: install libfuse3-dev"
# shellcheck disable=SC2086 # flags are words
${CC:-cc} -O1 -o "$work/failing_fs" "$here/tests/fault/failing_fs.c" $flags ||
  exit 1

mounted_or_dead() {
  grep -q " $mnt fuse" /proc/mounts || ! kill -0 $fs 2>/dev/null
}

# The file system must outlive no test: it runs without the mark of jobs.
mount_failing() {
  : >"$control"
  env -u FAULT_TEST_MARK "$work/failing_fs" "$back" "$control" "$mnt" -f \
    >"$work/fs.log" 2>&1 &
  fs=$!
  until_seconds 60 mounted_or_dead
  grep -q " $mnt fuse" /proc/mounts ||
    skip "FUSE cannot mount here: $(tail -n 1 "$work/fs.log")"
  # shellcheck disable=SC2034 # for tidy
  mounted=$mnt
}

build tests/fault/misbehave.c
mount_failing

# job OPTION...: must swap, on the file system.
job() {
  # shellcheck disable=SC2086 # $budget is two options
  run -n 8 --pems-k=2 $budget --pems-disk="$mnt" "$@" "$program" none 0 $array
}

drivers='unix aio uring'
wrong_with() {
  printf '%s\n' "$@" >"$control"
}
nothing_left() {
  [ -z "$(ls -A "$back")" ]
}
# The kernel tells the file system of a last close when that has been.
expect_nothing_left() {
  if ! until_seconds 60 nothing_left; then
    fault "left on the file system: $(ls -A "$back")"
  fi
}

for driver in $drivers; do
  for kind in 'short-write 3' 'short-read 3' 'tiny-read 5' 'intr-read 7'; do
    for direct in 0 1; do
      # FUSE takes what is behind a short read for zeros, unless it is direct.
      case $kind$direct in
        short-read*0 | tiny-read*0) continue ;;
      esac
      begin "$driver: transfers go on: $kind, direct $direct"
      wrong_with "$kind" "direct $direct"
      job --pems-io=$driver --pems-swapin=eager
      expect_status 0
      expect_nothing_left
      end
    done
  done
  for kind in 'eio-write 1' 'nospace-write 20' 'eio-read 5'; do
    begin "$driver: errors are errors: $kind"
    wrong_with "$kind" "direct 1"
    job --pems-io=$driver --pems-swapin=eager
    expect_status 1
    expect_line "context of rank [0-9]+ in $mnt: (input/output error|no space left)"
    expect_nothing_left
    end
  done
done

for options in --pems-swapin=lazy --pems-swapin=auto --pems-io=mmap; do
  begin "$options: reads that are interrupted are asked for again"
  wrong_with 'intr-read 7'
  job "$options"
  expect_status 0
  expect_nothing_left
  end

  begin "$options: reads fail"
  wrong_with 'eio-read 1'
  job "$options"
  expect_status 1
  expect_line "context of rank [0-9]+ in $mnt: input/output error"
  expect_nothing_left
  end
done

# two OPTION: the same job on two processes.
two() {
  run -n 8 --pems-procs=2 --pems-k=1 --pems-memory=64M --pems-context=24M \
    --pems-disk="$mnt" "$1" "$program" none 0 $array
}

for options in --pems-io=unix --pems-io=aio --pems-io=uring --pems-io=mmap \
  --pems-swapin=lazy --pems-swapin=auto; do
  begin "two processes, $options: reads and writes that are interrupted or short"
  # What is mapped the system writes: nobody can go on with a part of that.
  case $options in
    --pems-io=mmap) wrong_with 'intr-read 7' ;;
    *) wrong_with 'intr-read 7' 'short-write 3' ;;
  esac
  two "$options"
  expect_status 0
  expect_nothing_left
  end

  begin "two processes, $options: reads fail"
  wrong_with 'eio-read 1'
  two "$options"
  expect_status 1
  expect_line "context of rank [0-9]+ in $mnt: input/output error"
  expect_nothing_left
  end
done

# The program may see it in its results, and end with a status of its own.
begin "--pems-io=mmap: the system cannot write"
wrong_with 'eio-write 20'
job --pems-io=mmap
expect_status 1 99
expect_line "(writing mapped contexts: $mnt: input/output error|ended with status 99)"
expect_nothing_left
end

# Long before its end.
begin "--pems-io=mmap: the system cannot write what nobody looks at"
misbehave=$program
build tests/fault/rewrites.c
: >"$control"
# shellcheck disable=SC2086 # $budget is two options
start -n 8 --pems-k=2 $budget --pems-disk="$mnt" --pems-io=mmap "$program" \
  $array 120
await begun
wrong_with 'eio-write 20'
finish
program=$misbehave
expect_status 1
expect_line "writing mapped contexts: $mnt: input/output error"
if says "at the end"; then
  fault "the program came to its end"
fi
expect_nothing_left
end

# The file system ends while the job runs: it removes its hidden files itself,
# if all of them are closed. A job with --pems-io=mmap may go on in memory.
for options in --pems-io=unix --pems-io=aio --pems-io=uring \
  --pems-swapin=lazy; do
  begin "$options: the file system ends"
  : >"$control"
  # shellcheck disable=SC2086 # $budget is two options
  start -n 8 --pems-k=2 $budget --pems-disk="$mnt" "$options" "$program" \
    spin 0 $array
  await running
  kill -TERM $fs
  finish
  wait $fs
  expect_status 1
  expect_line "context of rank [0-9]+ in $mnt: (transport endpoint|software caused|input/output)"
  expect_nothing_left
  umount -l "$mnt" 2>/dev/null
  mount_failing
  end
done

conclude
