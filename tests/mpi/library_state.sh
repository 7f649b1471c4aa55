#!/bin/sh
# What libc remembers for the libraries of a rank is the rank's, whether the
# program is linked with them or opens them.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"

${MPICC:-mpicc} -O1 -fPIC -shared -Wl,-soname,libstate.so.1 -o libstate.so.1 \
  "$here/library/state.c" || exit 1
ln -s libstate.so.1 libstate.so
pemscc -O1 -DLINKED -o linked "$here/library/state_user.c" -L. -Wl,-rpath,"$work" \
  -lstate || exit 1
pemscc -O1 -o opening "$here/library/state_user.c" || exit 1
mkdir disk

# run RANKS WHAT...
run() {
  ranks=$1
  shift
  limited pemsrun -n "$ranks" --pems-disk=disk --pems-context=24M "$@" \
    >out 2>err || fail "$*: status $?: $(head -n 3 err)"
  [ "$(grep -Ec '^rank ([0-9]+) is rank \1$' out)" -eq $((3 * ranks)) ] ||
    fail "$*: not $((3 * ranks)) whole lines: $(head -n 8 out)"
}

for procs in 1 2; do
  for how in "./linked" "./opening $work/libstate.so"; do
    # shellcheck disable=SC2086 # words
    run 5 --pems-procs=$procs $how
    # shellcheck disable=SC2086
    PEMS_TEST_EVICT_ALWAYS=1 run 5 --pems-procs=$procs --pems-k=1 $how
  done
done
conclude
