#!/bin/sh
# The commands of README.md, the tutorial and the how-to pages, as they are printed:
# each block is run where a new user would run it, with smaller inputs, and does what
# the page says; with PEMS_TEST_LONG the tutorial's are as large as there. A block that
# is not known here is a failure: run it, or say below why it cannot be.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/launcher.sh
. "$here/tests/launcher.sh"
built=${top_builddir:-$here/build}
unset PEMS_CC PEMS_CXX PEMS_FC CC CXX FC CFLAGS CXXFLAGS FFLAGS LDFLAGS
mkdir -p blocks home/bin tmp tools fresh/build fresh/mnt fresh/examples
# Of two packages of a name pkg-config takes that of the build folder (-uninstalled).
PKG_CONFIG_PATH=$built/wrappers
HOME=$work/home
TMPDIR=$work/tmp
# The MPI that pems was configured for, by the names of the pages.
for tool in "mpicc=${MPICC:-mpicc}" "mpirun=${MPIRUN:-mpirun}"; do
  # shellcheck disable=SC2086 # a command with arguments
  set -- ${tool#*=}
  printf '#!/bin/sh\nexec %s "$@"\n' \
    "$(command -v "$1") $(shift && echo "$*")" >"tools/${tool%%=*}"
done
chmod +x tools/*
PATH=$HOME/bin:$work/tools:$PATH
export PKG_CONFIG_PATH HOME TMPDIR PATH
ln -s "$here/apps" fresh/apps
cp -R "$here/doc/examples/." fresh/examples

# --- the blocks of the pages ---

# What is indented by four columns after an empty line is a block: blocks/N, and in
# blocks/list a line "N PAGE FIRST LINE".
cut_blocks() {
  (cd "$here" && awk -v folder="$work/blocks/" '
    FNR == 1 || /^ *$/ { empty = 1; within = 0; next }
    /^    / && (within || empty) {
      if (!within) {
        file = folder (++n)
        match($0, /^ */)
        width = RLENGTH
        print n, FILENAME, substr($0, width + 1) >(folder "list")
      }
      print substr($0, width + 1) >file
      within = 1
      empty = 0
      next
    }
    { within = empty = 0 }' README.md doc/tutorial.md doc/examples/README.md doc/howto/*.md)
}
cut_blocks
[ "$(wc -l <blocks/list)" -ge 25 ] || fail "few blocks were found"

# of PAGE START: $block is the one of the page whose first line begins so.
of() {
  block=$(awk -v page="$1" -v start="$2" '
    { line = $0; sub(/^[^ ]* [^ ]* /, "", line) }
    $2 == page && index(line, start) == 1 { print $1 }' "$work/blocks/list" | head -n 1)
  [ -n "$block" ] || {
    fail "$1: no block begins with '$2'"
    return 1
  }
  echo "$block" >>"$work/blocks/known"
}

# runs PAGE START [SED]: the block in $folder, with what the script of sed makes of it;
# what it says is in out and err.
runs() {
  of "$1" "$2" || return
  sed -e "${3:-}" "$work/blocks/$block" >"$work/block.sh"
  try sh -c 'cd "$1" && exec sh -eu "$2"' sh "$folder" "$work/block.sh"
  if [ $status -ne 0 ]; then
    fail "$1: exit status $status of: $(cat "$work/block.sh")"
    return 1
  fi
  echo "PASS $1: $2"
}

# left PAGE START WHY: what is not run.
left() {
  of "$1" "$2" && echo "NOT RUN $1: $2: $3"
}

# says PATTERN: the last block has printed that.
says() {
  grep -Eq -e "$1" out err || fail "'$1' is not printed"
}

# has COMMAND...: are they there?
has() {
  for tool; do
    command -v "$tool" >/dev/null || return 1
  done
}

# --- README.md ---

page=README.md
folder=fresh/build
left $page './bootstrap demo' 'it installs packages; tests/bench/demo.sh'
left $page './bootstrap &&' 'so this tree was built'
runs $page 'pemscc -O2 -o psrs' 's/1000000000/1000000/' && says 'sorted|RESULT'
left $page 'pemsrun -n 256' 'several hosts: tests/hosts'
if [ "$(uname -m)" = x86_64 ] && setarch -R true 2>err; then
  runs $page 'pemsrun -n 64 --pems-ch' 's/1000000000/1000000/; s/30m/2/'
else
  left $page 'pemsrun -n 64 --pems-ch' "no checkpoints here: $(cat err)"
fi
left $page '#include <pems.h>' 'no command: doc/examples/pems.c'
left $page 'sort(keys' 'no command: doc/examples/pems.c'
left $page 'MPICC=mpicc.mpich' 'another build: ./bootstrap check mpich'
folder=fresh
awk 'BEGIN { srand(7); for (i = 0; i < 10000; i++)
  printf "%010d%089d\n", rand() * 1e9, i }' >fresh/big.dat
awk 'BEGIN { for (i = 0; i < 1000; i++) print "x" i % 13 "," i * 7 % 101 }' >fresh/a.csv
cp fresh/a.csv fresh/b.csv
printf 'country,size\nDE,3\n"A,T",1\nDE,12\n' >fresh/in.csv
if runs $page 'pems-sort --record'; then
  LC_ALL=C sort fresh/big.dat | cmp - fresh/sorted.dat || fail 'sorted.dat is not sorted'
  printf 'country,size\n"A,T",1\nDE,12\nDE,3\n' | cmp - fresh/sorted.csv ||
    fail 'sorted.csv is not sorted'
fi
[ "$(printf 'b\na\n' | home/bin/sort | head -n 1)" = a ] || fail 'the link sort does not sort'
cp "$here/doc/examples/sort.c" fresh/mine.c
runs $page 'cc -o mine'
printf '# comment\n1\t2\n2\t3\n' >fresh/soc-LiveJournal1.txt
runs $page 'pems-graph convert' 's/24000000/24000/' &&
  [ "$(wc -l <fresh/paths.csv)" -ge 3 ] || fail 'paths.csv has no paths'
folder=fresh/build
runs $page 'pemscc -O2 -o cgm_sort' 's/1000000000/1000000/'

# --- the tutorial, where pems's sources are ---

page=doc/tutorial.md
folder=fresh
small='s/40000000/4000000/'
if [ "${PEMS_TEST_LONG:-}" = 1 ]; then
  small=
fi
# It dies: by the tests' own way into a cgroup, as systemd is not everywhere.
if [ "${PEMS_TEST_LONG:-}" != 1 ]; then
  left $page 'mpicc -O2' 'with PEMS_TEST_LONG'
elif sh "$here/tests/bench/cgroup.sh" 64M true 2>"$work/err"; then
  of $page 'mpicc -O2'
  sed "s,systemd-run.*,sh '$here/tests/bench/cgroup.sh' 128M \\\\," \
    "blocks/$block" >block.sh
  try sh -c 'cd fresh && exec sh -eu ../block.sh'
  grep -q 'oom_kills=[1-9]' err || fail "$page: it does not die in 128 MiB"
else
  left $page 'mpicc -O2' "$(cat err)"
fi
# Other MPIs take more for themselves than Open MPI 4.1, for which the page is.
case $launcher in
  orte) room= ;;
  *) room='s/=128M/=144M/' ;;
esac
runs $page 'pemscc -O2 -g' "$small;$room"
runs $page 'pemsrun -n 64' "$small"
for report in report report64; do
  [ -s fresh/$report/index.html ] || fail "$page: no $report/index.html"
done
if [ "${PEMS_TEST_LONG:-}" = 1 ]; then
  grep -q 'k + 2 = 4 contexts do not fit' fresh/report/summary.txt ||
    fail "$page: 16 ranks in 128 MiB: the report does not say that k + 2 do not fit"
  grep -q 'contexts do not fit' fresh/report64/summary.txt &&
    fail "$page: 64 ranks in 140 MiB: k + 2 contexts do not fit"
fi
left $page pemstop 'it shows running jobs: tests/wrappers/pemstop.sh'

# --- examples ---

folder=fresh/examples
runs doc/examples/README.md 'cc -o sort'

# --- how-to pages ---

folder=fresh
cat >fresh/program.c <<'END'
#include <mpi.h>
#include <stdio.h>
int rank;
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD); printf("rank %d\n", rank);
  MPI_Finalize();
  return 0;
}
END
pemscc -g -o fresh/program fresh/program.c || fail 'program.c does not compile'
how=doc/howto
mkdir -p fresh/cmake
cp fresh/program.c fresh/cmake
cat >fresh/cmake/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(mine C)
find_package(MPI REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE MPI::MPI_C)
END
if has cmake; then
  folder=fresh/cmake
  runs $how/build-systems.md 'cmake -D' 's/$/ ./'
  try make -C fresh/cmake
  expect "$how/build-systems.md: its program" 0 '^rank 2' -- \
    pemsrun -n 4 fresh/cmake/program
else
  left $how/build-systems.md 'cmake -D' 'no cmake'
fi
left $how/build-systems.md 'find_package' 'tests/wrappers/build_systems.sh'
folder=fresh
left $how/containers.md 'podman build' 'packaging/check.sh builds the image'
printf '%s\n' 'set pagination off' 'set breakpoint pending on' \
  'break program.c:8 if rank == 3' run 'print rank' kill quit >fresh/gdb.txt
of $how/debugging.md '(gdb) set' # what gdb.txt has
if has gdb && gdb -batch -ex run --args true >out 2>&1 && grep -q normally out; then
  runs $how/debugging.md 'pemsrun -n 8' 's/gdb --args/gdb -batch -x gdb.txt --args/' &&
    says '= 3$'
else
  left $how/debugging.md 'pemsrun -n 8' 'no gdb, or it may not run programs'
fi
mkdir -p fresh/mnt/a fresh/mnt/b fresh/mnt/c
runs $how/disks.md 'pemsrun -n 64' 's,/mnt/,mnt/,g' && says '^rank 63'
left $how/memory.md 'n >= D' 'a formula'
if has perf && (cd tmp && perf record true) >out 2>&1; then
  runs $how/perf.md 'perf record' 's/perf report/& --stdio/'
  runs $how/perf.md 'printf' && [ "$(find fresh -name 'perf.[0-9]*' | wc -l)" -eq 2 ] ||
    fail "$how/perf.md: not one file of each process"
else
  left $how/perf.md 'perf record' 'no perf, or it may not count'
  left $how/perf.md 'printf' 'no perf, or it may not count'
fi
if echo 'int main(void) { return 0; }' >asan.c &&
  mpicc -fsanitize=address,undefined asan.c -o asan 2>err && ./asan; then
  # That option is Open MPI's.
  case $launcher in
  hydra) free='s/ --oversubscribe//' ;;
  *) free= ;;
  esac
  runs $how/sanitizers.md 'mpicc -g' "$free" && says '^rank 7'
else
  left $how/sanitizers.md 'mpicc -g' 'the compiler has no sanitizers'
fi
runs $how/slurm.md '#!/bin/sh' 's/-n 512/-n 16/' && says '^rank 15'
printf 'a,3\nb,12\n' >fresh/sales.csv
left $how/sort.md "python3 -c 'import sys, pyarrow" 'pyarrow is of PyPI'
runs $how/sort.md 'ln -s' &&
  [ "$(head -n 1 out)" = b,12 ] || fail "$how/sort.md: xsort does not sort"

# --- no block was forgotten, and options exist ---

while read -r number page line; do
  grep -qx "$number" blocks/known ||
    fail "$page: the block that begins with '$line' is not run: see the top of this script"
done <blocks/list

# In text, too: what a command is given there is in its --help.
for command in pemsrun pemsinfo pemstop pems-sort pemscc; do
  case $command in
    pemscc) words='-show' ;;
    pemsinfo) words=$(pemsinfo --help && pemsrun --help) ;; # of a job, too
    *) words=$($command --help) ;;
  esac
  echo "$words" | grep -oE -e '--?[A-Za-z][A-Za-z-]*' | sort -u >known
  (cd "$here" && grep -ohE "\`$command [^\`]*\`" README.md doc/*.md doc/howto/*.md) |
    sed 's/--wrapper=.*//' | grep -oE -e ' --[A-Za-z][A-Za-z-]*' | tr -d ' ' |
    sort -u >used
  while read -r option; do
    grep -qx -e "$option" known || fail "documents: $command has no option $option"
  done <used
done

# Names in tables are those of headers: pems_sorter_push, pems::sorter.
(cd "$here" && cat README.md doc/tutorial.md doc/cxx.md doc/howto/*.md) >text
cat "$here"/include/pems.h "$here"/include/pems/*.h* "$here"/include/pems/detail/* \
  "$here"/doc/man/*.3 >headers
grep -ohE 'pems_[a-z][a-z0-9_]*[a-z0-9]|pems::[a-z][a-z0-9_]*' text | sort -u >used
[ "$(wc -l <used)" -ge 40 ] || fail 'documents: few names were found'
while read -r word; do
  case $word in
    pems::program | pems::em | pems_node) ;; # CMake's; the first part of names
    *) grep -qw "${word#pems::}" headers || fail "documents: $word is in no header" ;;
  esac
done <used
conclude
