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

# What ranks do is told.

build tests/fault/standing.c -g
title_of() {
  grep -c "^pems: $1" "$err"
}

# polls PROCESSES: starts a job with counters that does so.
polls() {
  procs=$1
  start -n 4 --pems-procs="$procs" --pems-k=1 --pems-stats "$program" poll 1
  await running
  sleep 1
}

# told: the job has ended, and each process has said what it did.
told() {
  finish
  expect_failure
  [ "$(grep -c '^RESULT pems v=4 .* ended_by=SIGTERM$' "$err")" -eq "$procs" ] ||
    fault "no counters of $procs processes"
  [ "$(title_of 'SIGTERM: what the ranks.* were doing:')" -eq "$procs" ] ||
    fault "not what the ranks of $procs processes did"
  expect_text 'rank 0 waits in MPI_Recv' 'rank 1 (polls in MPI_Iprobe|computes)' \
    'ranks 2-3 poll in MPI_Test|ranks? [23] (polls in MPI_Test|computes)'
  expect_clean
  end
}

# Hydra leaves processes no time to say anything.
several=2
[ "$launcher" != hydra ] || several=

for n in 1 $several; do
  begin "SIGTERM to a job of $n processes that polls, with counters"
  polls "$n"
  kill -TERM "$job"
  told
done

begin "SIGTERM to one of two processes that poll, with counters"
polls 2
kill -TERM "$(running "$program" | tail -n 1)"
told

# A busy machine needs longer until the ranks of both processes run.
if [ -n "$several" ]; then
  begin "a time limit for two processes that poll, with counters"
  for seconds in 5 20 80; do
    start -n 4 --pems-procs=2 --pems-k=1 --pems-stats --timeout $seconds \
      "$program" poll 1
    finish
    ! grep -q '^RESULT pems .* process=1 ' "$err" || break
  done
  expect_status 110
  told
fi

begin "without --pems-stats nothing is told"
start -n 2 --pems-procs=1 "$program" poll 1
await running
kill -INT "$job"
finish
expect_failure
expect_few_lines
end

# A minute is shortened.
PEMS_TEST_STANDSTILL=2000
export PEMS_TEST_STANDSTILL
site=$(grep -n 'MPI_Test(&r, &flag' "$here/tests/fault/standing.c" |
  head -1 | cut -d: -f1)
for procs in 1 2; do
  begin "a job of $procs processes in which nothing moves"
  start -n 4 --pems-procs=$procs --pems-k=1 "$program" poll 1
  until_seconds "$limit" grep -q 'poll in MPI_Test' "$err" ||
    fault "it was not told"
  sleep 3
  kill -TERM "$job"
  finish
  expect_failure
  [ "$(title_of 'standstill: for 2 s no rank has computed')" -eq 1 ] ||
    fault "not told once"
  expect_text "rank 0 waits in MPI_Recv at standing.c:" \
    "rank 1 polls in MPI_Iprobe at standing.c:" \
    "ranks 2-3 poll in MPI_Test at standing.c:$site"
  expect_clean
  end
done

for how in computes sleep steps naps sends; do
  begin "a rank that others poll for: $how"
  run -n 3 --pems-procs=1 --pems-k=2 "$program" $how 1 5
  expect_status 0
  expect_silence
  expect_clean
  end
done
unset PEMS_TEST_STANDSTILL

conclude
