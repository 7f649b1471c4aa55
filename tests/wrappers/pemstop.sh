#!/bin/sh
# pemstop: what it says of a running job of one process, of two, and of one that
# mpirun started; its view on a terminal; what it refuses; that nothing is left.
# And --pems-progress: one line on a terminal, lines elsewhere.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"

pemscc -o wait "$here/tests/wrappers/wait_for_file.c" || exit 1

# prints TEXT COMMAND...: does the command print the text? `said` has what it did.
prints() {
  text=$1
  shift
  "$@" >said 2>&1
  grep -q -e "$text" said
}

# until_says TEXT COMMAND...: repeats the command until it prints the text.
until_says() {
  until_seconds 60 prints "$@" && return
  fail "never printed: $1"
  cat said
  return 1
}

# until_file_says TEXT: waits until what another process writes to `said` has it.
# If that never comes, who reads `said` tells.
until_file_says() {
  until_seconds 60 grep -q -s -e "$1" said
}

# says TEXT: the last output has it.
says() {
  grep -q -e "$1" said || {
    fail "does not say: $1"
    cat said
  }
}

expect "help" 0 '^usage: pemstop' -- pemstop --help
expect "version" 0 '^pemstop \(pems\) [0-9]' -- pemstop --version
expect "an unknown option" 2 '' 'pemstop: --what: unexpected' -- pemstop --what
expect "a bad delay" 2 '' 'pemstop: --delay: 0: give seconds' -- pemstop --delay=0
expect "no such job" 2 '' 'pemstop: 1: no job of pems' -- pemstop 1

# One process: pemsrun becomes it.
pemsrun -n 4 --pems-k=2 ./wait "$work/go1" &
job=$!
until_says 'others 3; done 0' pemstop --once --delay=0.1 $job
says '^wait: 4 ranks in 1 process on 1 host, k=2'
says 'computing 1, .*for others 3; done 0'
says '^contexts .* MiB of .* in memory'
says "^ *0 .* $job  *4  *1 "
pemstop --list >said
says "^ *$job  *4 .*wait$"
touch go1 # it goes on
wait $job || fail "the job failed"
expect "a job that has ended" 2 '' "pemstop: $job: no job" -- pemstop $job

# Two processes: by pemsrun's number and by that of a process.
pemsrun -n 4 --pems-procs=2 ./wait "$work/go2" &
job=$!
until_says 'others 3; done 0' pemstop --once --delay=0.1 $job
says '4 ranks in 2 processes on 1 host'
pid=$(awk '$1 == "1" { print $3 }' said)
pemstop --once --delay=0.1 "$pid" >said 2>&1
says '4 ranks in 2 processes'

# On a terminal: the view, until q is typed.
rm said
if command -v script >/dev/null; then
  (until_file_says '4 ranks in 2' && printf q && sleep 1) |
    TERM=xterm timeout "$(patient 120)" script -qec "pemstop $job" /dev/null >said 2>&1
  says '4 ranks in 2 processes'
  says '1049l' # the screen is as it was
else
  echo "no script(1): the view on a terminal was not tested"
fi
touch go2
wait $job || fail "the job of two processes failed"
if grep -q "pems-[a-z]*\..*\.$job$" /proc/net/unix; then
  fail "a socket is left"
fi

rm -f said
# Progress: lines in a log; on a terminal the same line again and again.
(
  until_file_says 'supersteps, '
  touch go3
) &
pemsrun -n 2 --pems-progress ./wait "$work/go3" 2>said >/dev/null
wait
grep -c '^pems: .* s: [0-9]* supersteps, ' said >count
[ "$(cat count)" -ge 1 ] || fail "no progress in a log"
if command -v script >/dev/null; then
  rm -f go4 said
  (
    until_file_says supersteps
    touch go4
  ) &
  timeout "$(patient 120)" script -qec "pemsrun -n 2 --pems-progress ./wait $work/go4" \
    /dev/null >said 2>&1 </dev/null
  wait
  tr '\r' '\n' <said | grep -q '^pems: .* supersteps.*\[K' ||
    tr '\r' '\n' <said | grep -q '^pems: .* supersteps' ||
    fail "no progress on a terminal"
  [ "$(grep -c supersteps said)" -le 1 ] || fail "progress in many lines"
fi
conclude
