#!/bin/sh
# Python programs with numpy and mpi4py whose arrays are four times the cgroup's
# LIMIT: on pems; by plain mpirun without a limit, with which the results must
# agree; by plain mpirun under the system's swapping, which is given three times
# the time that pems takes, then killed; and, for the sort, by Dask in the same
# cgroup, if DASK is a Python that has it.
#
#   PROGRAMS  which of sort fft jacobi (all)
#   LIMIT     memory of the cgroup (256M), V ranks (32), SWAP (4G)
#   ROUNDS    pems and plain in turn, so often (1)
#   PEMS_TEST_PYTHON  the interpreter, else the system's
#   DASK      an interpreter with dask[dataframe,distributed]
#
# Times are from start to end; cpu is of all processes, user and system. Needs
# root for the cgroup and for swap. Other sizes: see lib.sh.
V=${V:-32}
LIMIT=${LIMIT:-256M}
SWAP=${SWAP:-4G}
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

command -v "$pemsrun" >/dev/null || skip "$pemsrun was not found: build pems"
# shellcheck source=tests/wrappers/python/find.sh
. "$top/tests/wrappers/python/find.sh"
"$python" -c 'import numpy, mpi4py' 2>/dev/null ||
  skip "$python has no numpy or mpi4py"
unset PYTHONUNBUFFERED
swap=$SWAP

# command_of PROGRAM: its script and arguments, in $script and $arguments, so that
# its arrays are 4 * LIMIT.
command_of() {
  words=$(($(bytes "$LIMIT") / 2)) # of 8 bytes each
  side=$(awk "BEGIN { print int(sqrt($words) / $V) * $V }")
  half=$(awk "BEGIN { print int(sqrt($words / 2) / $V) * $V }")
  case $1 in
  sort) script=$top/tests/wrappers/python/sample_sort.py arguments=$((words / V)) ;;
  fft) script=$top/apps/fft.py arguments=$half ;; # complex numbers
  jacobi) script=$top/apps/jacobi.py arguments="$side 4" ;;
  *) give_up "$1: no such program" ;;
  esac
}

# Of all that this script has started and that has ended.
cpu_now() {
  times >"$work/times"
  awk 'NR == 2 { gsub("m", " "); gsub("s", "")
    printf "%.2f", $1 * 60 + $2 + $3 * 60 + $4 }' "$work/times"
}

# cpu_of COMMAND...: seconds_of, and $cpu.
cpu_of() {
  cpu_now >"$work/before"
  seconds_of "$@"
  cpu_now >"$work/after"
  cpu=$(calculate "$(cat "$work/after") - $(cat "$work/before")")
}

# What ranks print, in order, to a file.
keep_result() {
  grep '^rank \|^change\|^Parseval' "$work/log" | sort >"$1"
  [ -s "$1" ] || give_up "$program printed nothing"
}

print() {
  printf 'RESULT bench=python_swap program=%s how=%s seconds=%.1f cpu_seconds=%.1f %s ' \
    "$program" "$1" "$seconds" "$cpu" "$2"
  printf 'limit=%s ranks=%s arguments="%s" load=%s\n' "$LIMIT" "$V" "$arguments" \
    "$(cut -d' ' -f1 /proc/loadavg)"
}

on_pems() {
  : >"$work/log"
  # shellcheck disable=SC2086 # arguments are words
  cpu_of "$here/cgroup.sh" "$LIMIT" "$pemsrun" -n "$V" "--pems-disk=$DISK" \
    --pems-stats "$python" "$script" $arguments
  [ $status -ne 77 ] || skip "$(grep '^cgroup.sh' "$work/log")"
  [ $status -eq 0 ] || give_up "$program on pems: exit status $status"
  keep_result "$work/pems"
  pems_seconds=$seconds
  print pems "read=$(value bytes_read "$work/log") \
written=$(value bytes_written "$work/log") peak_anon=$(value peak_anon "$work/log")"
}

without_limit() {
  : >"$work/log"
  # shellcheck disable=SC2086
  cpu_of "$mpirun" -n "$V" "$python" "$script" $arguments
  [ $status -eq 0 ] || give_up "plain $program: exit status $status"
  keep_result "$work/plain"
  cmp -s "$work/pems" "$work/plain" || give_up "$program: other results than plain"
  print plain "ratio_of_pems=$(calculate "$pems_seconds / $seconds")"
}

# What plain mpirun started, in sessions of its own, is in the cgroup: it ends
# with that.
swapping() {
  : >"$work/log"
  # shellcheck disable=SC2086
  cpu_of "$here/cgroup.sh" "$LIMIT" --swap "$swap" timeout -k 10 \
    "$(calculate "3 * $pems_seconds")" "$mpirun" -n "$V" "$python" "$script" \
    $arguments
  outcome=$(outcome_of)
  [ "$outcome" != failed ] || give_up "$program under swap: exit status $status"
  print swap "outcome=$outcome ratio_to_pems=$(calculate "$seconds / $pems_seconds")"
}

by_dask() {
  if [ -z "${DASK:-}" ] || ! "$DASK" -c 'import dask.dataframe, distributed'; then
    echo "SKIP dask: DASK names no Python that has it"
    return
  fi
  : >"$work/log"
  # The scheduler and the interpreter of the workers' nanny take their part.
  cpu_of "$here/cgroup.sh" "$LIMIT" timeout -k 10 \
    "$(calculate "10 * $pems_seconds")" "$DASK" "$here/python_sort_dask.py" "$V" \
    "$arguments" $(($(bytes "$LIMIT") / 2)) "$work"
  outcome=$(outcome_of)
  [ "$outcome" != failed ] || outcome="failed_$status"
  print dask "outcome=$outcome ratio_to_pems=$(calculate "$seconds / $pems_seconds") \
oom_kills=$(value oom_kills "$work/log") peak_anon=$(value peak_anon "$work/log")"
}

[ "$(id -u)" -eq 0 ] && add_swap
for program in ${PROGRAMS:-sort fft jacobi}; do
  command_of "$program"
  round=0
  while [ $round -lt "${ROUNDS:-1}" ]; do
    round=$((round + 1))
    on_pems
    without_limit
  done
  if [ -n "$swap_file" ]; then
    swapping
  fi
  if [ "$program" = sort ]; then
    by_dask
  fi
done
