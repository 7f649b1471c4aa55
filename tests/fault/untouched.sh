#!/bin/sh
# Ranks that allocate more than the memory and touch little of it: it works, and
# what they touch leaves memory as all of a rank's does.
set -u
# shellcheck source=tests/fault/outofcore_lib.sh
. "$(dirname "$0")/outofcore_lib.sh"
"$pemscc" -O2 -o "$work/hardly_touched" "$top/tests/fault/hardly_touched.c" || exit 1
export system_pages=yes

# What pems counts fits into the limit with what it does not.
counted() {
  granted=$1
  within "$@"
  peak=$(sed -n 's/^RESULT pems .* peak_rss=\([0-9]*\).*/\1/p' "$work/err")
  if [ "${peak:-0}" -gt $((${granted%M} << 20)) ]; then
    echo "FAIL $*: $peak bytes in memory"
    status=1
  fi
}
counted 96M right=1 -n 4 --pems-memory=60M "$work/hardly_touched" malloc 96 1 3
counted 96M right=1 -n 8 --pems-memory=60M "$work/hardly_touched" realloc 96 8 3
grep -q '^RESULT pems .* swaps_out=[1-9]' "$work/err" || {
  echo "FAIL realloc: nothing has left memory: it was not counted"
  status=1
}
counted 96M right=1 -n 4 --pems-memory=60M --pems-io=mmap \
  "$work/hardly_touched" mmap 1024 4 2
within 96M right=1 -n 4 --pems-procs=2 --pems-memory=40M \
  "$work/hardly_touched" calloc 96 4 2
# More than all of the memory: the system pages what does not fit.
within 128M right=1 -n 2 --pems-memory=60M "$work/hardly_touched" memalign 160 120 2
exit $status
