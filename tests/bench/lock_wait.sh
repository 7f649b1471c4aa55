#!/bin/sh
# How long VPs that wake wait for the scheduler's lock, while the messages of
# other processes come in (P processes, 2): one RESULT line of each process,
# TIMES (5) times. With REPEATS and BYTES of lock_wait.c.
V=${V:-32}
. "$(dirname "$0")/lib.sh"

need_pems
${CC:-cc} -O2 -shared -fPIC -o "$work/probe.so" "$here/lock_wait_probe.c" -ldl ||
  skip "the probe was not built"
"$pemscc" -O2 -o "$work/lock_wait" "$here/lock_wait.c" || exit 1
for i in $(seq "${TIMES:-5}"); do
  LD_PRELOAD=$work/probe.so "$pemsrun" -n "$V" --pems-procs="${P:-2}" \
    --pems-k="$K" --pems-io=mem "--pems-disk=$DISK" --pems-context=16M \
    "$work/lock_wait" "${REPEATS:-50}" "${BYTES:-1048576}" >"$work/log" ||
    give_up "run $i: exit status $?"
  grep '^RESULT bench=lock_wait .*wakes=' "$work/log" ||
    give_up "run $i: the probe said nothing"
done
