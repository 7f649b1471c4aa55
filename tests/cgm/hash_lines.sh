#!/bin/sh
# apps/hash_lines.c against one process that holds all lines: a tree with odd
# files and names, with few ranks and more ranks than lines, in memory and
# swapped. With PEMS_TEST_LONG all of /usr, out of core in a cgroup, where its
# hashes are twice the memory and the contexts four times it.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
pemscc=${PEMSCC:-pemscc}
pemsrun=${PEMSRUN:-pemsrun}
work=$(mktemp -d "${TESTDIR:-${TMPDIR:-/var/tmp}}/pems-lines.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/disk" "$work/odd" "$work/few" "$work/none"
status=0
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"

"$pemscc" -O2 -o "$work/hash_lines" "$top/apps/hash_lines.c" || exit 1
${REAL_CC:-cc} -O2 -o "$work/reference" "$top/tests/cgm/lines_reference.c" ||
  exit 1

(
  cd "$work/odd" || exit 1
  : >empty
  printf 'no end' >open
  printf '\n\n\n' >"only ends"
  printf 'a\0b\n\0\n\0' >zeros
  head -c 1000000 /dev/zero | tr '\0' x >long # longer than a piece
  printf '\nafter it' >>long
  mkdir -p 'a b/new
line'
  echo inside >'a b/new
line/file'
  ln -s .. loop
  ln long 'a b/another name'
  mkfifo pipe
)
printf 'one\ntwo\none\n' >"$work/few/file"

# expect DIRECTORY...: what to wait for, as the program tells it.
expect() {
  # shellcheck disable=SC2046 # words
  set -- $(find "$@" -xdev -type f -print0 | "$work/reference")
  [ $# -eq 4 ] || exit 1
  wanted="lines=$1 different=$2 sum=$3 order=$4 sorted=1 wrong=0 "
}

# judge WHAT: by $rc and $work/out.
judge() {
  if [ $rc -ne 0 ] || ! grep -q "^RESULT app=hash_lines .*unread=0 .* $wanted" \
    "$work/out" || [ -n "$(ls "$work/disk")" ]; then
    echo "FAIL $1: exit status $rc, not $wanted"
    cat "$work/out" "$work/err"
    status=1
  fi
}

# try RANKS 'OPTIONS' DIRECTORY...
try() {
  ranks=$1
  options=$2
  shift 2
  # shellcheck disable=SC2086 # words
  limited "$pemsrun" -n "$ranks" --pems-disk="$work/disk" --pems-stats \
    $options "$work/hash_lines" "$@" >"$work/out" 2>"$work/err"
  rc=$?
  judge "$ranks ranks, $options, of $*"
}

# as try, with all contexts swapped at each superstep
swapped() {
  PEMS_TEST_EVICT_ALWAYS=1
  export PEMS_TEST_EVICT_ALWAYS
  try "$@"
  unset PEMS_TEST_EVICT_ALWAYS
  grep -q '^RESULT pems .* swap_out=[1-9]' "$work/err" ||
    grep -q 'io=mmap' "$work/err" || {
    echo "FAIL $*: nothing was swapped"
    status=1
  }
}

expect "$work/odd" "$top/src" "$top/tests"
try 1 '' "$work/odd" "$top/src" "$top/tests"
swapped 7 '--pems-k=2' "$work/odd" "$top/src" "$top/tests"
swapped 16 '--pems-k=1 --pems-procs=2' "$work/odd" "$top/src" "$top/tests"
swapped 5 '--pems-io=mmap' "$work/odd" "$top/src" "$top/tests"
expect "$work/few"
try 64 '' "$work/few"
swapped 9 '--pems-procs=3 --pems-k=1' "$work/few"
expect "$work/none"
try 4 '' "$work/none"

if "$pemsrun" -n 2 "$work/hash_lines" "$work/nowhere" >"$work/out" \
  2>"$work/err" || ! grep -q 'nowhere: No such file' "$work/err"; then
  echo "FAIL a directory that is not there: not refused"
  cat "$work/out" "$work/err"
  status=1
fi

if [ -n "${PEMS_TEST_LONG:-}" ]; then
  expect /usr
  limited "${SHELL:-sh}" "$top/tests/bench/cgroup.sh" 160M "$pemsrun" \
    -n 32 --pems-disk="$work/disk" --pems-stats "$work/hash_lines" /usr \
    >"$work/out" 2>"$work/err"
  rc=$?
  if [ $rc -eq 77 ]; then
    echo "SKIP /usr: $(cat "$work/err")"
  else
    judge 'all of /usr in 160 MiB'
    cat "$work/out" "$work/err"
  fi
fi
[ $status -ne 0 ] || echo "PASS hash_lines"
exit $status
