#!/bin/sh
# Contexts of several times the memory that the kernel grants: PSRS, a sweep, an
# Alltoallv, sorting and prefix sums of the CGM library in a cgroup, by every
# driver, on one and two processes. Results right, nothing killed, and what was
# chosen stays within the limit.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
pemscc=${PEMSCC:-pemscc}
pemsrun=${PEMSRUN:-pemsrun}
work=$(mktemp -d "${TESTDIR:-${TMPDIR:-/var/tmp}}/pems-outofcore.XXXXXX") ||
  exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/disk"
cgroup="${SHELL:-sh} $top/tests/bench/cgroup.sh"

# shellcheck disable=SC2086
$cgroup 64M true 2>"$work/err"
[ $? -ne 77 ] || {
  echo "SKIP: $(cat "$work/err")"
  exit 77
}
for app in psrs sweep alltoallv cgm_sort cgm_prefix; do
  "$pemscc" -O2 -o "$work/$app" "$top/apps/$app.c" || exit 1
done

status=0
# limited LIMIT WHAT THE-PROGRAM-SAYS pemsrun's arguments
limited() {
  limit=$1
  title=$2
  wanted=$3
  shift 3
  # shellcheck disable=SC2086
  timeout 300 $cgroup "$limit" "$pemsrun" --pems-disk="$work/disk" \
    --pems-stats "$@" >"$work/out" 2>"$work/err"
  rc=$?
  if [ $rc -ne 0 ] || ! grep -q "$wanted" "$work/out" ||
    ! grep -q 'RESULT cgroup .*oom_kills=0' "$work/err" ||
    [ -n "$(ls "$work/disk")" ]; then
    echo "FAIL $title: status $rc"
    cat "$work/out" "$work/err"
    status=1
  elif ! grep -q 'RESULT pems .* bytes_written=[0-9]\{9\}' "$work/err" &&
    ! grep -q 'io=mmap' "$work/err"; then
    echo "FAIL $title: less than 100 MB were written: this was not out of core"
    status=1
  else
    echo "PASS $title"
  fi
}

sorted='sorted=1 count_ok=1 checksum_ok=1'
for io in unix mmap; do
  # 256 MiB of keys, about 560 MiB of contexts
  limited 128M "psrs, $io" "$sorted" \
    -n 32 --pems-io=$io "$work/psrs" 67108864
  limited 160M "psrs, $io, two processes" "$sorted" \
    -n 31 --pems-procs=2 --pems-io=$io "$work/psrs" 67108864
done
for io in unix uring mmap; do
  limited 128M "cgm_sort, $io" sorted=1 \
    -n 32 --pems-io=$io "$work/cgm_sort" 67108864 --check
done
limited 160M "cgm_sort --psrs, two processes" sorted=1 \
  -n 31 --pems-procs=2 "$work/cgm_sort" 67108864 --psrs --check
# 512 MiB of numbers
limited 128M "cgm_prefix" right=1 -n 32 "$work/cgm_prefix" 67108864 --check
limited 128M "cgm_prefix, mmap" right=1 \
  -n 32 --pems-io=mmap "$work/cgm_prefix" 67108864 --exclusive --check
limited 128M "psrs, k = 1" "$sorted" \
  -n 24 --pems-k=1 "$work/psrs" 67108864
limited 128M "equal keys" "$sorted" \
  -n 32 "$work/psrs" 67108864 --key equal
limited 128M "sweep" 'RESULT app=sweep' -n 16 "$work/sweep" 32 4
limited 128M "alltoallv" 'RESULT app=alltoallv' -n 16 "$work/alltoallv" 67108864
exit $status
