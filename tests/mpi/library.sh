#!/bin/sh
# Shared libraries with state of their own that call MPI: each rank has a copy,
# unless they are named with --pems-shared.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"

# Libraries as anybody's mpicc makes them: "counted" needs "counter", and
# "chooser" runs as it is loaded.
for name in counter counted chooser; do
  needs=
  [ $name != counted ] || needs="-L. -lcounter -Wl,-rpath,$work"
  # shellcheck disable=SC2086
  ${MPICC:-mpicc} -O1 -fPIC -shared -Wl,-soname,lib$name.so.1 \
    -o lib$name.so.1 "$here/library/$name.c" $needs || exit 1
  ln -s lib$name.so.1 lib$name.so
done
pemscc -O1 -o program "$here/library/program.c" -L. -Wl,-rpath,"$work" \
  -lcounted -lcounter -lchooser || exit 1
mkdir disk

# run WANTED OPTIONS...
run() {
  wanted=$1
  shift
  if ! limited pemsrun -n 6 --pems-disk=disk --pems-context=24M "$@" ./program \
    >out 2>err; then
    fail "$*: $(head -n 3 err)"
  elif [ "$(grep -c "^$wanted" out)" -ne 6 ]; then
    fail "$*: not 6 times '$wanted':"
    head -n 8 out
  elif [ -n "$(ls disk)" ]; then
    fail "$*: files left in the scratch directory"
  fi
}

for procs in 1 2; do
  run private --pems-procs=$procs
  for io in unix mmap mem; do
    PEMS_TEST_EVICT_ALWAYS=1
    export PEMS_TEST_EVICT_ALWAYS
    run private --pems-procs=$procs --pems-k=1 --pems-io=$io
    unset PEMS_TEST_EVICT_ALWAYS
  done
done
run private --pems-procs=1 --pems-debug
run private --pems-procs=1 --pems-shared=libnone,libcounterx
# These are right here only because the test knows what goes wrong.
run shared --pems-procs=1 --pems-shared=libcounter,libcounted
run shared --pems-procs=1 --pems-shared=libcount
run shared --pems-procs=1 --pems-shared=all

conclude
