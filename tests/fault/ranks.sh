#!/bin/sh
# Thousands of small ranks, stacks included, in a memory that holds few of them:
# 600 of 256 KiB in a cgroup of 128 MiB; with PEMS_TEST_LONG 4096 in 512 MiB.
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
cgroup="${SHELL:-sh} $here/tests/bench/cgroup.sh"
# shellcheck disable=SC2086 # $cgroup is words
$cgroup 64M true 2>"$err"
[ $? -ne 77 ] || skip "$(cat "$err")"
build tests/fault/many_ranks.c

# within MIB RANKS: by the job's own choice, which leaves a tenth.
within() {
  begin "$2 ranks of 256 KiB in $1 MiB"
  # shellcheck disable=SC2086
  launch $cgroup "$1M" "$pemsrun" --pems-disk="$disk" -n "$2" "$program" 256 2
  finish
  expect_status 0
  expect_output "ok ranks"
  grep -q 'RESULT cgroup .*oom_kills=0$' "$err" || fault "killed for memory"
  [ -z "$(ls -A "$disk")" ] || fault "left on the disk: $(ls -A "$disk")"
  end
}

within 128 600
[ -z "${PEMS_TEST_LONG:-}" ] || within 512 4096
conclude
