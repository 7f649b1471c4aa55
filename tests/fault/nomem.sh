#!/bin/sh
# The n-th allocation of pems fails in one process of a job that swaps and has
# two processes: the job ends with one line and a status other than 0, or goes
# on without that memory and is right. Nothing hangs, nothing is left. A spread
# of 40 numbers, with PEMS_TEST_LONG of 400.
. "$(dirname "$0")/lib.sh"

build apps/psrs.c
shim=$work/nomem.so
${REAL_CC:-cc} -O1 -shared -fPIC -o "$shim" "$here/tests/fault/starve.c" \
  2>"$err" || skip "no shared library can be made: $(head -n 1 "$err")"
many=40
[ -z "${PEMS_TEST_LONG:-}" ] || many=400
right='sorted=1 count_ok=1 checksum_ok=1'

# job VARIABLE=VALUE...: sorts, with those in its environment.
job() {
  launch "$@" LD_PRELOAD="$shim" NOMEM_PROGRAM="$program" \
    NOMEM_STRUCK="$work/struck" "$pemsrun" "--pems-disk=$disk" -n 8 \
    --pems-procs=2 --pems-k=2 --pems-context=4M --pems-memory=64M \
    "$program" 100000
  finish
}

begin "no allocation fails"
mkdir "$work/counts"
job NOMEM_COUNTS="$work/counts"
expect_status 0
expect_silence
expect_output "$right"
expect_clean
end
# The fewest that a process makes.
most=$(find "$work/counts" -type f -exec cat {} + | sort -n | head -n 1)
[ "${most:-0}" -gt 0 ] ||
  skip "this pems does not call glibc's allocator by its name"

# expect_end N: one line, or none and a right result. How many allocations a
# process makes differs a little from run to run: it need not come to the last.
expect_end() {
  if [ ! -e "$work/struck" ] && [ "$1" -le $((most * 9 / 10)) ]; then
    fault "no process came to allocation $1"
  elif [ "$status" -eq 0 ]; then
    expect_silence
    expect_output "$right"
  else
    expect_line 'memory'
    if says 'RESULT app=' && ! says "$right"; then
      fault "a wrong result was printed"
    fi
  fi
  expect_clean
  rm -f "$work/struck"
}

ended=0
for n in $(awk -v most="$most" -v many="$many" \
  'BEGIN { for (i = 0; i < many && i < most; i++)
     print int(1 + i * (most < many ? 1 : (most - 1) / (many - 1))) }'); do
  begin "allocation $n of $most fails"
  job NOMEM_AT="$n"
  expect_end "$n"
  [ "$status" -eq 0 ] || ended=$((ended + 1))
  end
done

begin "a shortage ends jobs"
[ "$ended" -gt 0 ] || fault "no job has ended because of one"
end

conclude
