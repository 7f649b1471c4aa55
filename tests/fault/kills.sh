#!/bin/sh
# Nothing is left of jobs that are killed at random moments while they start: no
# process, no file. Some dozens of trials, with PEMS_TEST_LONG 2,500.
. "$(dirname "$0")/lib.sh"

cc=${REAL_CC:-cc}
# shellcheck disable=SC2086 # CC may have options
$cc -std=c17 -O1 -o "$work/kills" "$here/tests/fault/killer.c" ||
  skip "$cc cannot compile killer.c"
build tests/fault/misbehave.c
mkdir "$work/tmp"
TMPDIR=$work/tmp
export TMPDIR

trials=40
[ -z "${PEMS_TEST_LONG:-}" ] || trials=2500
seed=${PEMS_TEST_SEED:-$(date +%s)}
case $launcher in
hydra) MPIRUN_OPTIONS='-bind-to none' ;;
*) MPIRUN_OPTIONS='-q --oversubscribe --bind-to none' ;;
esac
export MPIRUN_OPTIONS

begin "$trials jobs killed while they start"
shared_memory >"$work/shm"
"$work/kills" "$trials" "$seed" "$pemsrun" "$mpirun" "$program" "$work" 800 \
  >"$out" 2>"$err" || fault "something is left"
until_seconds 60 no_shared_memory ||
  fault "left in /dev/shm: $(left_shared_memory)"
end
conclude
