#!/bin/sh
# --pems-memory is all included: many requests, messages before their receives,
# datatypes of many blocks and deep stacks fit in a cgroup of 16 MiB more, on one
# process. What does not fit is on disk.
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
cgroup="${SHELL:-sh} $here/tests/bench/cgroup.sh"
# shellcheck disable=SC2086 # $cgroup is words
$cgroup 64M true 2>"$err"
[ $? -ne 77 ] || skip "$(cat "$err")"
build tests/fault/pending.c

# within MIB KIND COUNT [OPTION...]
within() {
  memory=$1 kind=$2 count=$3
  shift 3
  begin "$count $kind: $* in $memory MiB"
  # shellcheck disable=SC2086
  launch $cgroup $((memory + 16))M "$pemsrun" --pems-disk="$disk" \
    --pems-memory="${memory}M" "$@" "$program" "$kind" "$count"
  finish
  expect_status 0
  expect_output "ok $kind"
  grep -q 'RESULT cgroup .*oom_kills=0$' "$err" || fault "killed for memory"
  [ -z "$(ls -A "$disk")" ] || fault "left on the disk: $(ls -A "$disk")"
  end
}

within 200 isend 300000 -n 4
within 200 isend 100000 -n 8
within 200 irecv 100000 -n 8
within 200 types 1000000 -n 8 --pems-context=64M --pems-k=1
within 128 stacks 7000000 -n 64 --pems-context=6M
within 128 unexpected 1000000 -n 2
if [ -n "${PEMS_TEST_LONG:-}" ]; then
  within 128 isend 200000 -n 6 --pems-procs=2
  within 128 irecv 100000 -n 6 --pems-procs=2
fi

# in_64M STATUS OPTION...: what does not fit in a cgroup.
in_64M() {
  wanted=$1
  shift
  # shellcheck disable=SC2086
  launch $cgroup 64M "$pemsrun" --pems-disk="$disk" -n 4 --pems-memory=400M \
    "$@" "$program" isend 300000
  finish
  expect_status "$wanted"
  [ -z "$(ls -A "$disk")" ] || fault "left on the disk: $(ls -A "$disk")"
}

begin "more memory than the cgroup has is noticed, and who is killed for it"
in_64M 137
grep -q '^pems: --pems-memory: 400.*cgroup.*give less' "$err" ||
  fault "nothing was said of the cgroup"
until_seconds 60 grep -q '^pems: process [0-9]* was killed: .*memory' "$err" ||
  fault "nothing was said of the end"
end
begin "the same is refused with --pems-strict"
in_64M 2 --pems-strict
grep -q '^pems: --pems-memory: 400.*cgroup.*give less' "$err" ||
  fault "nothing was said"
end
conclude
