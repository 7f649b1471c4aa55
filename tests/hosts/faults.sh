#!/bin/sh
# Processes and hosts that die: the job ends on all hosts in time, by one line
# that says which it was, and leaves nothing. What is slow or stopped for a while
# is not taken for dead.
. "$(dirname "$0")/lib.sh"
only_long
build tests/fault/misbehave.c
on_hosts 4
name_of=misbehave

# spin [ARGS...]: a job that swaps on all hosts until it is stopped.
spin() {
  # shellcheck disable=SC2086 # $budget is two options
  start_hosts -n 32 --pems-k=1 $budget "$@" "$program" spin 0 $array
  await running
  sleep 1 # all hosts are at it
}

# ended STATUS PATTERN: the job has failed, with one line of pems that matches,
# in time and everywhere.
ended() {
  expect_status "$1"
  expect_line "$2"
  left=$((struck + promised - $(date +%s)))
  expect_hosts_clean $((left > 0 ? left : 1))
  [ $(($(date +%s) - struck)) -le $promised ] ||
    fault "it took more than $promised s"
  end
}

strike() {
  struck=$(date +%s)
  "$@"
  finish
}

# kill_on NODE NAME: the first of these on a host.
kill_on() {
  # shellcheck disable=SC2046 # at most one
  kill -KILL $(hosts_running "$1" "$2" | head -n 1)
}

# kill_daemon NODE: PRRTE's is a child of another process of its name, which waits.
kill_daemon() {
  # shellcheck disable=SC2046 # a list
  kill -KILL $(hosts_running "$1" "$launcher_daemon")
}

died='has died: the job ends'
for procs in 4 8; do
  with="$procs processes on 4 hosts"
  begin "SIGKILL of a process, $with"
  spin --procs=$procs
  strike kill_on nodeC $name_of
  ended 137 "host nodeC: process [0-9] of $procs, pid [0-9]*, $died"

  begin "SIGKILL of mpirun's daemon, $with"
  spin --procs=$procs
  strike kill_daemon nodeC
  ended "$status" "host nodeC: mpirun's process there $died"
  [ "$status" -ne 0 ] || fault "exit status 0"

  begin "SIGKILL of mpirun, $with"
  spin --procs=$procs
  strike kill_on nodeA $launcher_mpirun
  ended 137 "mpirun: killed by signal 9 .*"

  begin "a link that is set down, $with"
  spin --procs=$procs
  strike hosts_unplug nodeC
  ended 1 "host nodeC: lost: no answer for 15 s"
  hosts_plug nodeC

  begin "a host that no longer answers, $with"
  spin --procs=$procs
  strike hosts_cut nodeD
  ended 1 "host nodeD: lost: no answer for 15 s"
  hosts_mend nodeD
done

begin "pemsrun's host is the one that is cut off"
spin
strike hosts_cut nodeA
ended 1 "hosts node[BCD], node[BCD], node[BCD]: lost: no answer"
hosts_mend nodeA

begin "pemsrun runs on a host without ranks, and one of the others is lost"
spin --host nodeB,nodeC
strike hosts_cut nodeB
ended 1 "host nodeB: lost: no answer"
hosts_mend nodeB

begin "SIGKILL of pemsrun"
spin
struck=$(date +%s)
kill -KILL "$job"
finish
expect_status 137
expect_silence
expect_hosts_clean $promised
end

begin "a fault of the program on one host: said once, by it"
# shellcheck disable=SC2086
run_hosts -n 8 --pems-k=1 $budget "$program" null 5
expect_failure
expect_line 'rank 5: '
expect_hosts_clean 10
end

printf '#!/bin/sh\n[ "$(hostname)" != nodeC ] || exit 0\nexec "$@"\n' >"$work/not_on_C"
chmod +x "$work/not_on_C"
if [ "$launcher" = hydra ]; then
  echo "SKIP a process that ends with 0 before MPI_Init: Hydra has no agent"
else
  begin "a process that ends with 0 before MPI_Init on one host"
  struck=$(date +%s)
  run_hosts -n 8 --wrapper="$work/not_on_C" "$program" none 0
  ended 1 'host nodeC: process 2 of 4, pid [0-9]*, has ended before MPI_Init'
fi

begin "a directory of checkpoints that the hosts do not share"
run_hosts -n 8 --pems-checkpoint=/dev/shm/checkpoints "$program" none 0
expect_status 2
expect_line 'checkpoint: /dev/shm/checkpoints: not the directory that it is on the first host: name one that all hosts share'
rm -rf "$HOSTS_DIR"/shm/*/checkpoints
expect_hosts_clean 10
end

begin "a process that is stopped for 10 s, and a slow link"
start_hosts -n 4 --pems-k=1 --pems-memory=200M "$program" none 0 48
hosts_slow nodeB 20mbit
until_seconds "$limit" says running
stopped=$(hosts_running nodeC $name_of)
if [ -n "$stopped" ]; then
  # shellcheck disable=SC2086 # a list
  kill -STOP $stopped
  sleep 10
  # shellcheck disable=SC2086
  kill -CONT $stopped
fi
finish
expect_status 0
expect_silence
expect_hosts_clean 5
hosts_fast nodeB
end

conclude
