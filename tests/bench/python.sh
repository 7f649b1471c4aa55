#!/bin/sh
# Python programs with numpy and mpi4py whose arrays are four times as large as
# the memory of the cgroup: pems in the cgroup of LIMIT without swap, plain mpirun
# without a limit, which must print the same, and plain mpirun in the same cgroup
# with a swap file, killed after three times what pems took. The sort is done by
# Dask in the same cgroup, too, if DASK_PYTHON is an interpreter that has it
# (dask[dataframe] and distributed).
#
#   V         ranks (32)
#   LIMIT     memory of the cgroup (256M)
#   ITERATIONS  of Jacobi (4)
#   PROGRAMS  which of sort, fft and jacobi (all)
#   WITH      what beside pems and plain: of swap and dask (both)
#   TIME_OF_PEMS  if it is known, neither pems nor plain mpirun without limit runs
#   PIECES    Dask's partitions per rank's numbers (8)
#   DASK_HOW  how Dask works: see python_dask.py (threads; two workers; one)
#   PEMS_TEST_PYTHON  the interpreter, else the system's
#
# One line per program and way to run it. Other sizes: see lib.sh.
LIMIT=${LIMIT:-256M}
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

command -v "$pemsrun" >/dev/null || skip "$pemsrun was not found: build pems"
# shellcheck source=tests/wrappers/python/find.sh
. "$top/tests/wrappers/python/find.sh"
"$python" -c 'import numpy, mpi4py' 2>/dev/null ||
  skip "$python has no numpy or mpi4py"
unset PYTHONUNBUFFERED
TMPDIR=$work
export TMPDIR

limit=$(bytes "$LIMIT")
numbers=$((4 * limit / V / 8))

# The program and its arguments; its arrays of 8 or 16 bytes per element are four
# limits together. Rows of a matrix are divided among the ranks.
program_of() {
  case $1 in
  sort) echo "$top/tests/wrappers/python/sample_sort.py $numbers" ;;
  fft) echo "$top/apps/fft.py $(side 16 1)" ;;
  jacobi) echo "$top/apps/jacobi.py $(side 8 2) ${ITERATIONS:-4}" ;;
  *) give_up "$1: no such program" ;;
  esac
}

# side BYTES ARRAYS: of the smallest matrices that are so large, a multiple of V
side() {
  awk "BEGIN { s = sqrt(4 * $limit / $1 / $2); n = int(s / $V)
               print $V * (n * $V < s ? n + 1 : n) }"
}

# report PROGRAM WAY OUTCOME [FIELD=...]
report() {
  printf 'RESULT bench=python program=%s way=%s outcome=%s seconds=%s ' \
    "$1" "$2" "$3" "$seconds"
  shift 3
  printf '%s ' "$@" "ranks=$V" "limit=$limit"
  printf 'load=%s\n' "$(cut -d' ' -f1 /proc/loadavg)"
}

# What the program prints, line by line, is in $work/NAME.
output_of() {
  grep -E '^(rank|parseval|change)' "$work/log" | sort >"$work/$1"
  [ -s "$work/$1" ] || give_up "$1: it printed nothing"
}

with_pems() {
  # shellcheck disable=SC2046 # words
  measure "$pemsrun" -n "$V" --pems-procs=1 "--pems-k=$K" "--pems-disk=$DISK" \
    --pems-stats "$python" $(program_of "$1")
  [ "$status" -eq 0 ] || give_up "pems, $1: exit status $status"
  output_of pems
  pems_seconds=$seconds
  report "$1" pems finished \
    "bytes_read=$(value bytes_read "$work/log")" \
    "bytes_written=$(value bytes_written "$work/log")" \
    "cpu_seconds=$(value cpu_seconds "$work/log")" \
    "max_usage=$(value max_usage "$work/log")" \
    "peak_anon=$(value peak_anon "$work/log")"
}

with_plain() {
  : >"$work/log"
  # shellcheck disable=SC2046
  seconds_of "$mpirun" -n "$V" "$python" $(program_of "$1")
  [ "$status" -eq 0 ] || give_up "plain mpirun, $1: exit status $status"
  output_of plain
  diff "$work/plain" "$work/pems" >&2 || give_up "$1: pems prints something else"
  report "$1" plain finished same=yes \
    "pems_is_slower_by=$(calculate "$pems_seconds / $seconds")"
}

with_swap() {
  add_swap
  allowed=$(calculate "3 * $pems_seconds")
  # shellcheck disable=SC2046
  measure --swap "$SWAP" timeout -k 10 "$allowed" \
    "$mpirun" -n "$V" "$python" $(program_of "$1")
  report "$1" swap "$(outcome_of)" "allowed_seconds=$allowed" \
    "ratio_to_pems=$(calculate "$seconds / $pems_seconds")" \
    "oom_kills=$(value oom_kills "$work/log")"
  swapoff "$swap_file" && rm -f "$swap_file"
  swap_file=
}

# with_dask HOW
with_dask() {
  parts=$((V * ${PIECES:-8}))
  measure timeout -k 10 "$(calculate "10 * $pems_seconds")" \
    "$DASK_PYTHON" "$here/python_dask.py" "$V" "$numbers" \
    "$parts" "$1"
  [ "$(app_value wrong)" != 1 ] || give_up "Dask: wrong data"
  report sort "dask:$1" "$(outcome_of)" "partitions=$parts" \
    "ratio_to_pems=$(calculate "$seconds / $pems_seconds")" \
    "oom_kills=$(value oom_kills "$work/log")" \
    "peak_anon=$(value peak_anon "$work/log")" \
    "disk_read=${device_read%.*}" "disk_written=${device_written%.*}"
}

for program in ${PROGRAMS:-sort fft jacobi}; do
  pems_seconds=${TIME_OF_PEMS:-}
  if [ -z "$pems_seconds" ]; then
    with_pems "$program"
    with_plain "$program"
  fi
  for way in ${WITH:-swap dask}; do
    if [ "$way" = swap ]; then
      with_swap "$program"
    elif [ "$program" = sort ] && [ -n "${DASK_PYTHON:-}" ]; then
      for how in ${DASK_HOW:-threads 2x$((limit * 2 / 5)) 1x$((limit * 4 / 5))}; do
        with_dask "$how"
      done
    fi
  done
done
