#!/bin/sh
# Large thread-local data are memory of a rank like all other: they count, and
# leave memory while it waits. 16 ranks of 8 MiB each in a cgroup for 64 to 80 MiB.
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
cgroup="${SHELL:-sh} $here/tests/bench/cgroup.sh"
# A program with such a library needs 45 MiB over Open MPI 4.1, 55 over 5, and
# over MPICH a little more.
case $launcher in
orte) memory=48M limit_memory=64M ;;
prrte) memory=56M limit_memory=72M ;;
*) memory=64M limit_memory=80M ;;
esac
# shellcheck disable=SC2086 # $cgroup is words
$cgroup $limit_memory true 2>"$err"
[ $? -ne 77 ] || skip "$(cat "$err")"
area=$here/tests/fault/thread_area.c
${CC:-cc} -O1 -fPIC -shared -o "$work/libarea.so" "$area" || exit 1

# within TITLE ARGUMENT...: the program in $program.
within() {
  begin "thread-local data of $1"
  shift
  # shellcheck disable=SC2086
  launch $cgroup $limit_memory "$pemsrun" --pems-disk="$disk" -n 16 --pems-memory=$memory \
    --pems-k=1 --pems-context=12M --pems-stats "$program" "$@"
  finish
  expect_status 0
  expect_output "ok thread_steps"
  grep -q 'RESULT cgroup .*oom_kills=0$' "$err" || fault "killed for memory"
  [ -z "$(ls -A "$disk")" ] || fault "left on the disk: $(ls -A "$disk")"
  end
}

# What a rank may have is less.
refused() {
  begin "a context that is too small for them is told"
  launch "$pemsrun" --pems-disk="$disk" -n 16 --pems-memory=$memory \
    --pems-context=6M "$program"
  finish
  expect_status 1
  grep -q '^pems: thread-local data of rank [0-9]*: 8.*: give more' "$err" ||
    fault "nothing was said of it: $(cat "$err")"
  end
}

build tests/fault/thread_steps.c "$area"
within "the program"
refused
build tests/fault/thread_steps.c -L"$work" -Wl,--no-as-needed -larea \
  -Wl,-rpath,"$work"
within "a library"
build tests/fault/thread_steps.c -DOPENED
within "a library that is opened" "$work/libarea.so"
build tests/fault/thread_fixed.c
begin "300 ranks have data at fixed offsets"
run -n 300 --pems-procs=1 --pems-context=1M "$program"
expect_status 0
expect_output "ok thread_fixed"
end
conclude
