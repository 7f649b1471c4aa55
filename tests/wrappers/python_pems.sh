#!/bin/sh
# The Python package pems on ranks: what it sorts is sorted, what waits in its
# queue comes back, and what a rank discards is not written. Skipped without numpy
# and mpi4py.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"
# shellcheck source=tests/wrappers/python/find.sh
. "$here/python/find.sh"
! mpi4py_lacks numpy || skip "$lack"
PYTHONPATH=$here/../../python
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
# Ranks find libpems-em by themselves, since pems is made of it.
unset PEMS_EM_LIBRARY
mkdir scratch

# run WHAT OPTIONS...
run() {
  what=$1
  shift
  limited pemsrun -n 3 --pems-context=256M --pems-stats "$@" \
    "$python" "$here/python/pems_module.py" "$what" scratch >out 2>err ||
    fail "$what $*: $(tail -n 5 err)"
}

for rank in 0 1 2; do
  printf "$rank: %s True\n" array file memmap
  echo "$rank: queue True True"
done | sort >wanted
sorted() {
  run sort "$@"
  sort out | diff wanted - >differ || fail "sort $*: $(cat differ)"
  [ -z "$(ls scratch)" ] || fail "sort $*: files were left: $(ls scratch)"
}
sorted --pems-procs=1
sorted --pems-procs=2
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS
sorted --pems-procs=1 --pems-k=1
sorted --pems-procs=2 --pems-swapin=lazy

# bytes WHAT: that a job writes, of one process, whole contexts at each wait.
bytes() {
  run "$1" --pems-procs=1 --pems-swapin=eager --pems-track=off
  [ "$(grep -c '^[012]: rounds True True$' out)" -eq 3 ] || fail "$1: $(cat out)"
  written=$(sed -n 's/^RESULT pems .* bytes_written=\([0-9]*\).*/\1/p' err)
  [ -n "$written" ] || fail "$1: it does not say what it wrote: $(cat err)"
}
bytes keep
kept=$written
bytes discard
echo "written: $kept bytes, and $written of these where 32 MiB are discarded"
# Four times two of three ranks wait, and leave memory: 256 MiB. How often the
# rest of them does differs a little.
[ $((kept - written)) -gt $((4 * (32 << 20))) ] ||
  fail "discard: $kept bytes were written without, $written with it"
conclude
