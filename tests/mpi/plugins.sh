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
build "${CC:-cc}" wrap "$here/plugins/wrap.c" -Lplugins -lbase \
  "-Wl,-rpath,\$ORIGIN"
cp plugins/closing.so plugins/kept.so
build "${MPICC:-mpicc}" stays "$here/plugins/closing.c" -Lplugins -lbase \
  "-Wl,-rpath,\$ORIGIN,-z,nodelete"
echo 'FIRST { global: answer; local: *; }; SECOND { global: answer; } FIRST;' \
  >versions.map
build "${CC:-cc}" versions "$here/plugins/versions.c" \
  -Wl,--version-script=versions.map
echo 'int counts_next(void) { static int n; return ++n; }' >counts.c
build "${CC:-cc}" counts counts.c
build "${CC:-cc}" slow "$here/plugins/slow.c"
build "${CC:-cc}" deep "$here/plugins/deep.c"
cp plugins/deep.so plugins/shallow.so
${MPICXX:-mpicxx} -O1 -rdynamic -o program.native "$here/plugins/program.cpp" \
  -ldl -pthread || exit 1
pemscxx -O1 -rdynamic -o program "$here/plugins/program.cpp" -pthread || exit 1
${MPICC:-mpicc} -O1 -rdynamic -o around.native "$here/plugins/around.c" -ldl \
  -pthread ||
  exit 1
pemscc -O1 -rdynamic -o around "$here/plugins/around.c" -pthread || exit 1
build "${CC:-cc}" linking_general "$here/plugins/linking.c"
build "${CC:-cc}" linking_initial "$here/plugins/linking.c" -DINITIAL_EXEC
# By descriptors, where the compiler can; on some machines it always does.
dialect=
for option in -mtls-dialect=gnu2 -mtls-dialect=desc; do
  ${CC:-cc} $option -fPIC -c -o t.o "$here/plugins/linking.c" 2>/dev/null &&
    dialect=$option && break
done
# shellcheck disable=SC2086 # perhaps none
build "${CC:-cc}" linking_described "$here/plugins/linking.c" $dialect
${MPICC:-mpicc} -O1 -o linked.native "$here/plugins/linked.c" -ldl -pthread ||
  exit 1
pemscc -O1 -o linked "$here/plugins/linked.c" -pthread || exit 1
build "${CC:-cc}" large "$here/plugins/large.c"
pemscc -O1 -o short_of_room "$here/plugins/short_of_room.c" -pthread || exit 1
build "${CC:-cc}" libkeeping "$here/plugins/keeping.c"
pemscc -O1 -o keeper "$here/plugins/keeper.c" -Lplugins -lkeeping \
  "-Wl,-rpath,\$ORIGIN/plugins" || exit 1
pemscc -O1 -o damaged "$here/plugins/damaged.c" || exit 1
pemscc -O1 -o strict "$here/plugins/strict.c" || exit 1
echo 'extern int base_value; int needs(void) { return base_value; }' >needs.c
build "${CC:-cc}" needs needs.c -Lplugins -lbase "-Wl,-rpath,\$ORIGIN"

# plain PROGRAM: what it prints under plain mpirun, in wanted.PROGRAM.
plain() {
  limited ${MPIRUN:-mpirun} -n 4 "./$1.native" >out 2>err || { cat err; exit 1; }
  sort out >"wanted.$1"
}
plain program
[ "$(grep -c 'base ends' wanted.program)" -eq 4 ] ||
  fail "plain: $(cat wanted.program)"
plain linked
plain around
[ "$(grep -c '^next: 1001 1002$' wanted.around)" -eq 4 ] ||
  fail "plain: $(cat wanted.around)"

# run PROGRAM OPTIONS...
run() {
  program=$1
  shift
  if ! limited pemsrun -n 4 --pems-disk=disk --pems-context=24M "$@" \
    "./$program" >out 2>err; then
    fail "$program $*: $(head -n 3 err)"
  elif ! sort out | diff "wanted.$program" - >differ; then
    fail "$program $*: differs from mpirun:"
    head -n 8 differ
  elif [ -n "$(ls disk)" ]; then
    fail "$program $*: files left in the scratch directory"
  fi
}

for procs in 1 2; do
  run program --pems-procs=$procs
  run around --pems-procs=$procs
  run linked --pems-procs=$procs
done
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS
for io in unix mmap mem; do
  run program --pems-k=1 --pems-io=$io
done
run program --pems-k=2 --pems-procs=2
run program --pems-swapin=lazy
run program --pems-track=fault --pems-procs=1
run program --pems-debug --pems-procs=1
run around --pems-k=2 --pems-procs=1
run linked --pems-k=1
run linked --pems-swapin=lazy
unset PEMS_TEST_EVICT_ALWAYS

# Room for the library is there when the other rank has left memory; that one
# has a thread, so it cannot while it waits for the loader.
limited pemsrun -n 2 --pems-procs=1 --pems-k=2 --pems-memory=150M \
  --pems-disk=disk ./short_of_room plugins/large.so >out 2>err ||
  fail "short of room: $(head -n 3 err)"
printf 'rank 0: 10241 1 1\nrank 1: 10241 2 2\n' >wanted
sort out | diff wanted - || fail "short of room: $(head -n 3 err)"

# Shared, because the user wants it: what one rank writes all see.
limited pemsrun -n 4 --pems-procs=1 --pems-shared=plain,libbase ./program \
  >out 2>err
sort out | diff wanted.program - >/dev/null &&
  fail "--pems-shared: each has its own"

# What such a library allocates is in no rank's memory.
PEMS_TEST_EVICT_ALWAYS=1 limited pemsrun -n 3 --pems-procs=1 --pems-disk=disk \
  --pems-shared=libkeeping ./keeper >out 2>err
printf 'kept for all %d\n' 1 2 3 >wanted
diff wanted out || fail "keeping: $(head -n 3 err)"

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

# An allocator, an OpenMP runtime: a line says that there is one for all.
cp plugins/libbase.so plugins/libjemalloc.so.9
limited pemsrun -n 3 --pems-procs=1 --pems-strict --pems-stats ./strict \
  plugins/libjemalloc.so.9 >out 2>err || fail "process-wide: $(head -n 3 err)"
[ "$(grep -c '^opened$' out)" -eq 3 ] || fail "process-wide: $(cat out)"
[ "$(grep -c "^pems: opened, and shared by all ranks: .*/libjemalloc.so.9: its \
state is the process's, as for threads: nothing to do$" err)" -eq 1 ] || fail "process-wide: $(cat err)"

# What is damaged fails in the rank, and nothing else.
mkdir bad
for name in libbase linking_general; do
  if ! limited pemsrun -n 3 ./damaged plugins/$name.so bad >out 2>err; then
    fail "damaged $name: $(head -n 3 err)"
  elif [ "$(grep -c '^refused many: 1, opened some: 1, without a reason: 0$' out)" -ne 3 ]; then
    fail "damaged $name: $(cat out)"
  fi
done

conclude
