#!/bin/sh
# Python ranks with numpy and mpi4py that do little, in the cgroup of LIMIT: how
# long they take to start, what they hold in memory, what a superstep moves, and
# what their copies of libraries cost.
#
#   V       numbers of ranks, each in a run of its own (32 256)
#   LIMIT   memory of the cgroup (1G)
#   STEPS   supersteps that are measured (4)
#   PEMS_TEST_PYTHON  the interpreter, else the system's
#
# library_* is of mappings of libraries' files, anonymous_* of all others, in
# bytes, for all ranks of the process together: _rss as if each rank had pages of
# its own, _pss what there is of them. What _private_dirty says of libraries is
# what the copies take beyond the pages of the files. One line for each V; wheels
# and Debian's packages differ, so it says which python. Other sizes: see lib.sh.
V=${V:-32 256}
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
count=${STEPS:-4}

command -v "$pemsrun" >/dev/null || skip "$pemsrun was not found: build pems"
# shellcheck source=tests/wrappers/python/find.sh
. "$top/tests/wrappers/python/find.sh"
"$python" -c 'import numpy, mpi4py' 2>/dev/null ||
  skip "$python has no numpy or mpi4py"
unset PYTHONUNBUFFERED

# run RANKS STEPS
run() {
  measure "$pemsrun" -n "$1" --pems-procs=1 "--pems-disk=$DISK" --pems-stats \
    "$python" "$here/python_ranks.py" "$2" "$(date +%s.%N)"
  [ "$status" -eq 0 ] || give_up "$1 ranks: exit status $status"
}

for ranks in $V; do
  run "$ranks" 0
  moved_in=$(value bytes_read "$work/log")
  moved_out=$(value bytes_written "$work/log")
  cpu=$(value cpu_seconds "$work/log")
  run "$ranks" "$count"
  printf 'RESULT bench=python_ranks python=%s ranks=%s limit=%s ' \
    "$python" "$ranks" "$(value limit "$work/log")"
  printf 'start_seconds=%s cpu_seconds_of_start=%s peak_anon=%s ' \
    "$(app_value start_seconds)" "$cpu" "$(value peak_anon "$work/log")"
  printf 'beside=%s ' "$(value beside "$work/log")"
  printf 'read_per_step=%.0f written_per_step=%.0f ' \
    "$(calculate "($(value bytes_read "$work/log") - $moved_in) / $count")" \
    "$(calculate "($(value bytes_written "$work/log") - $moved_out) / $count")"
  for kind in library anonymous; do
    for field in rss pss private_dirty; do
      printf '%s_%s=%s ' $kind $field "$(app_value ${kind}_$field)"
    done
  done
  printf 'load=%s\n' "$(cut -d' ' -f1 /proc/loadavg)"
done
