#!/bin/sh
# Signals to jobs whose ranks are on disk most of the time: each rank that has a
# handler gets them, in its own memory, and nothing dies without a word.
. "$(dirname "$0")/lib.sh"

build tests/fault/counting.c

# A busy machine may send several before the process has taken the first.
send=${SIGNALS:-40}
signal=USR1

# storm HOW OPTIONS...: a job that swaps; signals come at many moments of it.
storm() {
  how=$1
  shift
  touch "$work/go"
  # shellcheck disable=SC2086 # $budget is two options
  start -n 8 --pems-k=1 $budget "$@" "$program" "$how" "$work/go" $array
  await running
  victims=$(running "$program")
  [ -n "$victims" ] || fault "no process of the program was found"
  sent=0
  while [ $sent -lt "$send" ]; do
    sent=$((sent + 1))
    for victim in $victims; do
      kill "-$signal" "$victim" || fault "the job has died after $sent signals"
    done
    sleep 0.0$((sent % 7))1
  done
  rm "$work/go"
  finish
}

# got RANK: how many signals that rank says it got, or nothing.
got() {
  sed -n "s/^rank $1: got \([0-9]*\), 0 wrong, alarms right$/\1/p" "$out"
}

# expect_counts FIRST STEP: ranks FIRST, FIRST + STEP, ... got at least one
# signal, none more than were sent, and the others none.
expect_counts() {
  rank=0
  while [ $rank -lt 8 ]; do
    count=$(got $rank)
    if [ $((rank % $2)) -eq "$1" ] || [ "$2" -eq 1 ]; then
      [ "${count:-0}" -ge 1 ] && [ "$count" -le "$send" ] ||
        fault "rank $rank got ${count:-nothing}, of $send signals"
    else
      [ "${count:-x}" = 0 ] || fault "rank $rank got ${count:-nothing}, not 0"
    fi
    rank=$((rank + 1))
  done
}

begin "SIGUSR1 to a job that swaps, k = 1"
storm all --pems-procs=1
expect_status 0
expect_silence
expect_counts 0 1
expect_clean
end

begin "SIGUSR1 to both processes of a job"
storm all --pems-procs=2
expect_status 0
expect_silence
expect_counts 0 1
expect_clean
end

begin "only some ranks have a handler"
storm some --pems-procs=1
expect_status 0
expect_silence
expect_counts 1 2
expect_clean
end

# MPICH takes SIGUSR1 itself, which then ends no program of it.
begin "no rank has a handler"
signal=USR2
storm none --pems-procs=1 2>/dev/null
# shellcheck disable=SC2034 # lib.sh's: the job has died, and should have
wrong=
expect_failure
expect_few_lines
expect_text 'User defined signal 2|signal 12|SIGUSR2'
expect_clean
end

conclude
