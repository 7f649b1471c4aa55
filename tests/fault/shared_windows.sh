#!/bin/sh
# Windows of MPI_Win_allocate_shared, all together of several times the memory
# that the kernel grants: they leave it when all their ranks wait, what is in
# memory of them counts, and a full disk gives no window.
set -u
# shellcheck source=tests/fault/outofcore_lib.sh
. "$(dirname "$0")/outofcore_lib.sh"
"$pemscc" -O2 -o "$work/sharing" "$top/tests/fault/sharing.c" || exit 1

# 256 MiB of windows, 64 a pair. What pems counts fits into the limit with what
# it does not: so the kernel has nothing to take back by itself.
counted() {
  granted=$1
  within "$@"
  peak=$(sed -n 's/^RESULT pems .* peak_rss=\([0-9]*\).*/\1/p' "$work/err")
  if [ "${peak:-0}" -gt $((${granted%M} << 20)) ]; then
    echo "FAIL $*: $peak bytes in memory"
    status=1
  fi
}
counted 160M right=1 -n 8 --pems-memory=120M "$work/sharing" 32 2
counted 160M right=1 -n 8 --pems-memory=120M --pems-k=1 --pems-io=uring \
  "$work/sharing" 32 2
within 200M right=1 -n 8 --pems-procs=2 --pems-memory=160M "$work/sharing" 32 2
within 160M right=1 -n 8 --pems-io=mmap --pems-memory=120M "$work/sharing" 32 2
# One window of more than the memory: the system pages what does not fit. What of
# it pems writes is what the kernel has not written by then: on a busy machine
# perhaps little.
export system_pages=yes
within 128M right=1 -n 2 --pems-memory=96M "$work/sharing" 100 2
grep -q '^RESULT cgroup .* swap=0 ' "$work/err" || {
  echo "FAIL one window: the kernel has swapped, and not written the window"
  status=1
}
exit $status
