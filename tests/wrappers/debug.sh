#!/bin/sh
# What tools see of the ranks' copies of a program: breakpoints of gdb are hit
# by every rank, and cores, valgrind and perf have its functions and lines; no
# option is needed, and nothing is left behind.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
mkdir disk
cat >program.c <<'C'
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int count_here(int x) {
  return x + 1;
}
__attribute__((noinline)) int crash_here(volatile int *p) {
  return *p;
}
__attribute__((noinline)) double burn_here(int n) {
  double sum = 0;
  for (int i = 1; i < n; i++)
    sum += 1.0 / i;
  return sum;
}
__attribute__((noinline)) void depend_here(const int *p) {
  if (p[3] == 7)
    puts("seven");
}
int main(int argc, char **argv) {
  int rank;
  const char *what = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  rank = count_here(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(what, "crash") == 0 && rank == 2)
    crash_here((int *)8);
  if (strcmp(what, "depend") == 0)
    depend_here(malloc(40));
  if (strcmp(what, "plugin") == 0)
    rank += ((int (*)(int))dlsym(dlopen("./plugin.so", RTLD_NOW),
                                 "plugin_here"))(rank);
  if (strcmp(what, "burn") == 0)
    rank += burn_here(200000000) < 0;
  MPI_Finalize();
  return rank < 0;
}
C
pemscc -g -O1 -o program program.c || exit 1
echo 'static int calls; int plugin_here(int x) { return x + calls++; }' >plugin.c
${CC:-cc} -g -O1 -fPIC -shared -o plugin.so plugin.c || exit 1
set -- -n 3 --pems-k=1 --pems-context=16M --pems-memory=512M --pems-disk=disk

# shows TITLE PATTERN...: what the tool printed matches each of these.
shows() {
  title=$1
  shift
  for pattern; do
    grep -Eq -e "$pattern" seen || {
      fail "$title: nothing matches '$pattern'"
      sed 's/^/    seen: /' seen
      return
    }
  done
  if [ -n "$(ls disk)" ]; then
    fail "$title: left behind: $(ls disk)"
    return
  fi
  echo "PASS $title"
}

missing=
if command -v gdb >/dev/null; then
  try pemsrun "$@" --wrapper="gdb -q -batch -ex 'set breakpoint \
    pending on' -ex 'break count_here' -ex run -ex continue -ex continue -ex \
    continue --args" ./program
  cat out err >seen
  shows "breakpoints" 'count_here \(x=0\)' 'count_here \(x=1\)' \
    'count_here \(x=2\)' 'exited normally'
  try pemsrun "$@" --wrapper="gdb -q -batch -ex 'set breakpoint \
    pending on' -ex 'break plugin_here' -ex run -ex backtrace -ex continue \
    -ex continue -ex continue --args" ./program plugin
  cat out err >seen
  shows "breakpoints in what ranks open" 'plugin_here \(x=1\) at plugin.c:1' \
    'plugin_here \(x=2\) at plugin.c:1' 'plugin_here \(x=3\) at plugin.c:1' \
    '^#1 .*main .* at program.c:' 'exited normally'
  try pemsrun "$@" \
    --wrapper='gdb -q -batch -ex run -ex backtrace --args' ./program crash
  cat out err >seen
  shows "where a rank crashed" '^#0 .*crash_here \(p=0x8\) at program.c:' \
    '^#1 .*main .* at program.c:'
  if command -v prlimit >/dev/null &&
    [ "$(cat /proc/sys/kernel/core_pattern)" = core ]; then
    mkdir core && cd core || exit 1
    try prlimit --core=unlimited pemsrun "$@" --pems-disk=../disk \
      ../program crash
    gdb -q -batch -ex backtrace ../program core* >../seen 2>&1
    cd .. && rm -rf core/core*
    shows "a core" '^#[0-9]+ .*crash_here \(p=0x8\) at program.c:'
  else
    missing="$missing cores"
  fi
else
  missing="$missing gdb"
fi
if command -v valgrind >/dev/null; then
  try pemsrun "$@" --wrapper=valgrind ./program depend
  cat out err >seen
  shows "valgrind" 'Conditional jump or move depends' \
    'at 0x[0-9A-F]*: depend_here \(program.c:[0-9]*\)' \
    'by 0x[0-9A-F]*: main \(program.c:[0-9]*\)'
else
  missing="$missing valgrind"
fi
if command -v perf >/dev/null && perf record -q -o try.data true 2>/dev/null; then
  try pemsrun "$@" --wrapper='perf record -q -o data' ./program burn
  perf report -i data --stdio >seen 2>/dev/null
  shows "perf" ' program .* burn_here'
else
  missing="$missing perf"
fi
[ -z "$missing" ] || echo "not there, or not allowed:$missing"
conclude
