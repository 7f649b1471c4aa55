# shellcheck shell=sh
# What tests out of core share: programs in a cgroup that grants little memory.
# Status 77, with a reason, where no cgroup can be made, or files are in memory.
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
pemscc=${PEMSCC:-pemscc}
pemsrun=${PEMSRUN:-pemsrun}
work=$(mktemp -d "${TESTDIR:-${TMPDIR:-/var/tmp}}/pems-outofcore.XXXXXX") ||
  exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/disk"
cgroup="${SHELL:-sh} $top/tests/bench/cgroup.sh"
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"
status=0 # what the script is to end with
export status

[ "$(stat -f -c %T "$work")" != tmpfs ] || {
  echo "SKIP: ${work%/*} is tmpfs, whose files take the memory of a cgroup"
  exit 77
}
# shellcheck disable=SC2086
$cgroup 64M true 2>"$work/err"
[ $? -ne 77 ] || {
  echo "SKIP: $(cat "$work/err")"
  exit 77
}

# build APP...: $work/APP
build() {
  for app; do
    "$pemscc" -O2 -o "$work/$app" "$top/apps/$app.c" || exit 1
  done
}

# within LIMIT WHAT-THE-PROGRAM-SAYS pemsrun's options, a program, and its
# arguments. Contexts may become $times times the limit. With $system_pages pems
# need not have written: the kernel may, before it.
times=0
system_pages=
within() {
  most=$1
  wanted=$2
  shift 2
  # shellcheck disable=SC2086
  limited $cgroup "$most" "$pemsrun" --pems-disk="$work/disk" \
    --pems-stats "$@" >"$work/out" 2>"$work/err"
  rc=$?
  ranks=$(sed -n 's/^RESULT pems v=\([0-9]*\) .*/\1/p' "$work/err")
  mu=$(sed -n 's/^RESULT pems .* mu=\([0-9]*\) .*/\1/p' "$work/err")
  contexts=$((${ranks:-0} * ${mu:-0}))
  if [ $rc -ne 0 ] || ! grep -q "$wanted" "$work/out" ||
    ! grep -q 'RESULT cgroup .*oom_kills=0' "$work/err" ||
    [ -n "$(ls "$work/disk")" ]; then
    echo "FAIL $most, $*: status $rc"
    cat "$work/out" "$work/err"
    status=1
  elif [ "$contexts" -lt $((times * ${most%M} << 20)) ]; then
    echo "FAIL $most, $*: contexts of $contexts bytes are not $times times that"
    status=1
  elif [ -z "$system_pages" ] &&
    ! grep -q 'RESULT pems .* bytes_written=[0-9]\{9\}' "$work/err" &&
    ! grep -q 'io=mmap' "$work/err"; then
    echo "FAIL $most, $*: less than 100 MB were written: not out of core"
    status=1
  else
    echo "PASS $most, $*: $(cat "$work/out")"
  fi
}
