#!/bin/sh
# Plug-ins that ranks open at run time: each rank has its own, with its own of
# what they need. The same as plain mpirun prints, however contexts move.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"
mkdir plugins disk

# As anybody's compilers make them: pemscc is for the program only.
# shellcheck disable=SC2086
build() {
  compiler=$1 name=$2
  shift 2
  $compiler -O1 -fPIC -shared -o "plugins/$name.so" "$@" || exit 1
}
build "${CC:-cc}" libbase "$here/plugins/base.c"
ln -s libbase.so plugins/base.so
for name in plain closing; do
  build "${MPICC:-mpicc}" $name "$here/plugins/$name.c" -Lplugins -lbase \
    "-Wl,-rpath,\$ORIGIN"
done
build "${CXX:-c++}" fancy "$here/plugins/fancy.cpp" -Lplugins -lbase \
  "-Wl,-rpath,\$ORIGIN"
${MPICXX:-mpicxx} -O1 -rdynamic -o native "$here/plugins/program.cpp" \
  -ldl -pthread || exit 1
pemscxx -O1 -rdynamic -o program "$here/plugins/program.cpp" -pthread || exit 1
pemscc -O1 -o damaged "$here/plugins/damaged.c" || exit 1
pemscc -O1 -o strict "$here/plugins/strict.c" || exit 1
echo 'extern int base_value; int needs(void) { return base_value; }' >needs.c
build "${CC:-cc}" needs needs.c -Lplugins -lbase "-Wl,-rpath,\$ORIGIN"

limited ${MPIRUN:-mpirun} -n 4 ./native >out 2>err ||
  { cat err; exit 1; }
sort out >wanted
[ "$(grep -c 'base ends' wanted)" -eq 4 ] || fail "plain: $(cat wanted)"

# run OPTIONS...
run() {
  if ! limited pemsrun -n 4 --pems-disk=disk --pems-context=24M "$@" ./program \
    >out 2>err; then
    fail "$*: $(head -n 3 err)"
  elif ! sort out | diff wanted - >differ; then
    fail "$*: differs from mpirun:"
    head -n 8 differ
  elif [ -n "$(ls disk)" ]; then
    fail "$*: files left in the scratch directory"
  fi
}

for procs in 1 2; do
  run --pems-procs=$procs
done
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS
for io in unix mmap mem; do
  run --pems-k=1 --pems-io=$io
done
run --pems-k=2 --pems-procs=2
run --pems-swapin=lazy
run --pems-track=fault --pems-procs=1
run --pems-debug --pems-procs=1
unset PEMS_TEST_EVICT_ALWAYS

# Shared, because the user wants it: what one rank writes all see.
limited pemsrun -n 4 --pems-procs=1 --pems-shared=plain,libbase ./program \
  >out 2>err
sort out | diff wanted - >/dev/null && fail "--pems-shared: each has its own"

# With --pems-strict no rank gets what would be shared, whoever opens it first;
# what each has its own of it gets.
strict() {
  limited pemsrun -n 3 --pems-procs=1 --pems-strict "$@" ./strict \
    plugins/needs.so >out 2>err || fail "--pems-strict $*: $(head -n 3 err)"
}
strict
[ "$(grep -c '^opened$' out)" -eq 3 ] || fail "--pems-strict: $(cat out)"
strict --pems-shared=needs
[ "$(grep -c 'libbase.so: it would be shared by all ranks' out)" -eq 3 ] ||
  fail "--pems-strict, shared: $(cat out)"

# What is damaged fails in the rank, and nothing else.
mkdir bad
if ! limited pemsrun -n 3 ./damaged plugins/libbase.so bad >out 2>err; then
  fail "damaged: $(head -n 3 err)"
elif [ "$(grep -c '^refused many: 1, opened some: 1, without a reason: 0$' out)" -ne 3 ]; then
  fail "damaged: $(cat out)"
fi

conclude
