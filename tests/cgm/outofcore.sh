#!/bin/sh
# Lists, forests and graphs whose contexts are several times the memory that the
# kernel grants, by every driver, on one and two processes: right, nothing
# killed, and all that is allocated within the limit. tests/fault/outofcore.sh
# does the same for sorting and sums.
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
for app in cgm_list_rank cgm_euler cgm_components; do
  "$pemscc" -O2 -o "$work/$app" "$top/apps/$app.c" || exit 1
done

status=0
# limited LIMIT WANTED pemsrun's options, a program, and its arguments
limited() {
  limit=$1
  wanted=$2
  shift 2
  # shellcheck disable=SC2086
  timeout 300 $cgroup "$limit" "$pemsrun" --pems-disk="$work/disk" \
    --pems-stats "$@" >"$work/out" 2>"$work/err"
  rc=$?
  result=$(cat "$work/out")
  ranks=$(sed -n 's/^RESULT pems v=\([0-9]*\) .*/\1/p' "$work/err")
  mu=$(sed -n 's/^RESULT pems .* mu=\([0-9]*\) .*/\1/p' "$work/err")
  contexts=$((${ranks:-0} * ${mu:-0}))
  if [ $rc -ne 0 ] || ! grep -q "$wanted" "$work/out" ||
    ! grep -q 'RESULT cgroup .*oom_kills=0' "$work/err" ||
    [ -n "$(ls "$work/disk")" ]; then
    echo "FAIL $limit, $*: status $rc"
    cat "$work/out" "$work/err"
    status=1
  elif [ "$contexts" -lt $((4 * ${limit%M} << 20)) ]; then
    echo "FAIL $limit, $*: contexts of $contexts bytes are not four times that"
    status=1
  elif ! grep -q 'RESULT pems .* bytes_written=[0-9]\{9\}' "$work/err" &&
    ! grep -q 'io=mmap' "$work/err"; then
    echo "FAIL $limit, $*: less than 100 MB were written: not out of core"
    status=1
  else
    echo "PASS $limit, $*: $result"
  fi
}

long=
[ -z "${PEMS_TEST_LONG:-}" ] || long=1
for io in unix uring mmap; do
  case $io in
  unix | mmap) alone=1 ;;
  *) alone=$long ;;
  esac
  [ -z "$alone" ] ||
    limited 128M right=1 -n 32 --pems-io=$io "$work/cgm_list_rank" 2000000 \
      --check
done
limited 128M trees=900 -n 32 "$work/cgm_euler" 900 --make forest --lca 200000
limited 128M trees=1 -n 32 --pems-k=1 --pems-io=uring "$work/cgm_euler" 500000 \
  --make caterpillar
# Messages from many contexts at once, in many pieces each.
limited 128M components=11431 -n 32 --pems-k=2 --pems-io=unix \
  "$work/cgm_components" 600000 --make random
limited 160M 'bipartite=0' -n 33 --pems-procs=2 --pems-k=1 \
  "$work/cgm_components" 150000 --make random --bipartite
if [ -n "$long" ]; then
  limited 128M 'depth=2 ' -n 32 "$work/cgm_euler" 1000000 --make star --lca 9
  limited 128M 'components=1 ' -n 32 --pems-k=1 --pems-io=mmap \
    "$work/cgm_components" 1000000 --make path
fi
exit $status
