# shellcheck shell=sh
# What the tests on several hosts share: tests/fault/lib.sh, for jobs that
# `hosts_run` starts on hosts of network.sh. Sourced with $0 in this folder.
#
#   on_hosts N           makes hosts; where there can be none, the test ends here,
#                        skipped with the reason
#   only_long            skips the test unless it is make check-long
#   start_hosts, run_hosts  as start and run, by hosts_run
#   expect_hosts_clean S  nothing is left on any host within S seconds
. "$(dirname "$0")/../fault/lib.sh"
# shellcheck disable=SC2034 # for network.sh
hosts_here=$here/tests/hosts
. "$hosts_here/network.sh"

# The work of pemsrun is to end on all hosts within this many seconds of a fault
# (pemsrun(1)).
# shellcheck disable=SC2034 # for the tests
promised=30

tidy_hosts() {
  hosts_down
  tidy
}

on_hosts() {
  hosts_up "$1" "$work" 2>"$err" || skip "$(cat "$err")"
  trap tidy_hosts EXIT
}

only_long() {
  [ -n "${PEMS_TEST_LONG:-}" ] ||
    skip "takes minutes: set PEMS_TEST_LONG=1 (make check-long)"
}

# start_hosts ARGS...: hosts_run in the background; `finish` waits for it.
start_hosts() {
  # shellcheck disable=SC2046 # none of these words has blanks
  launch "$hosts_here/enter.sh" nodeA "$pemsrun" $(hosts_defaults "$@") "$@"
}

run_hosts() {
  start_hosts "$@"
  finish
}

# hosts_running NODE NAME: the processes of this command on a host.
hosts_running() {
  for pid in $(hosts_pids "$1"); do
    case $(cat "/proc/$pid/comm" 2>/dev/null) in
      "$2"*) echo "$pid" ;;
    esac
  done
}

no_process_on_hosts() {
  for node in $(hosts_nodes); do
    [ -z "$(hosts_pids "$node")" ] || return 1
  done
}

# hosts_left NODE: scratch files, shared memory, what mpirun keeps in $TMPDIR.
hosts_left() {
  find "$(hosts_scratch "$1")" "$HOSTS_DIR/shm/$1" "$HOSTS_DIR/$1/tmp" -mindepth 1
}

# Nothing is left on any host: no processes, no files.
expect_hosts_clean() {
  if ! until_seconds "$1" no_process_on_hosts; then
    fault "processes left after $1 s:$(for node in $(hosts_nodes); do
      for pid in $(hosts_pids "$node"); do
        echo " $node: $(cat "/proc/$pid/comm" 2>/dev/null) $pid"
      done
    done)"
    hosts_kill
  fi
  for node in $(hosts_nodes); do
    left=$(hosts_left "$node")
    if [ -n "$left" ]; then
      fault "left on $node: $left"
    fi
  done
  # A fault leaves no host unlike the others for the next case.
  for node in $(hosts_nodes); do
    find "$HOSTS_DIR/shm/$node" "$HOSTS_DIR/$node/tmp" -mindepth 1 -delete
  done
}
