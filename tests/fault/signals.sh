#!/bin/sh
# Jobs that are killed or stopped from outside.
. "$(dirname "$0")/lib.sh"

build tests/fault/misbehave.c

# spin: starts a job on two processes that swaps until it is stopped.
spin() {
  # shellcheck disable=SC2086 # $budget is two options
  start -n 16 --pems-procs=2 --pems-k=1 $budget "$program" spin 0 $array
  await running
}

begin "SIGKILL of one of two processes"
spin
victim=$(running "$program" | tail -n 1)
if [ -n "$victim" ]; then
  kill -KILL "$victim"
else
  fault "no process of the program was found"
fi
finish
expect_failure
expect_few_lines
expect_clean
end

for signal in INT TERM; do
  begin "SIG$signal to the job"
  spin
  kill -$signal "$job"
  finish
  expect_failure
  expect_few_lines
  expect_clean
  end
done

begin "SIGTERM to one of two processes"
spin
victim=$(running "$program" | tail -n 1)
kill -TERM "$victim"
finish
expect_failure
expect_few_lines
expect_clean
end

# Hydra's ranks are not stopped, only what they print.
${REAL_CC:-cc} -O1 -o "$work/terminal" "$here/tests/fault/terminal.c" || exit 1
spinning=$program
build tests/fault/typing.c
for procs in 1 2; do
  begin "Ctrl-Z, fg and what is typed, $procs processes"
  launch "$work/terminal" "$pemsrun" -n 4 --pems-procs=$procs --pems-context=8M \
    --pems-disk="$disk" "$program"
  finish
  expect_status 0
  expect_clean
  [ -z "$wrong" ] || fault "$(tail -n 3 "$out")"
  end
done
program=$spinning

begin "SIGKILL of mpirun"
spin
victim=$(for pid in $(marked); do
  case $(readlink "/proc/$pid/exe") in
    */orterun | */mpirun* | */mpiexec* | */prterun) echo "$pid" ;;
  esac
done | head -n 1)
if [ -n "$victim" ]; then
  kill -KILL "$victim"
else
  fault "no mpirun was found"
fi
finish
expect_failure
expect_few_lines
# The ranks notice that mpirun is gone. Its own session files may stay.
until_seconds 60 no_process || fault "processes left: $(marked | tr '\n' ' ')"
if [ -n "$(find "$disk" -mindepth 1)" ]; then
  fault "left on the disk: $(ls "$disk")"
fi
end

conclude
