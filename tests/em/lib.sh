# shellcheck shell=sh
# What the tests of pems-sort share: a directory $work of the test's own with
# scratch space $disk, the program $reference, and functions. A test ends with
# `conclude`. Exit status: 0 passed, 1 failed, 77 skipped.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
name=$(basename "$0" .sh)
work=$(mktemp -d "${TESTDIR:-${TMPDIR:-/var/tmp}}/pems-$name.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
mkdir disk out
disk=$work/disk
failures=0
passed=0
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"
LC_ALL=C
export LC_ALL

command -v pems-sort >/dev/null || {
  echo "SKIP $name: pems-sort is not in the PATH: build pems first"
  exit 77
}
reference=$work/reference
${REAL_CC:-cc} -O1 -o "$reference" "$top/tests/em/reference.c" || exit 1

# Runs a command; $status, stdout.txt and stderr.txt are what came of it.
try() {
  limited "$@" >stdout.txt 2>stderr.txt </dev/null
  # shellcheck disable=SC2034 # for the tests
  status=$?
}

fault() {
  failures=$((failures + 1))
  echo "FAIL $*"
  sed 's/^/    stdout: /' stdout.txt | head -20
  sed 's/^/    stderr: /' stderr.txt | head -20
}

pass() {
  passed=$((passed + 1))
  [ -n "${QUIET:-}" ] || echo "PASS $*"
}

# gives INPUT WANTED [options]: both with \n and the like. By the name $sort_as
# if that is set.
gives() {
  input=$1 wanted=$2
  shift 2
  printf '%b' "$input" >in
  printf '%b' "$wanted" >want
  try "${sort_as:-pems-sort}" "$@" in
  if [ $status -ne 0 ] || [ -s stderr.txt ] || ! cmp -s want stdout.txt; then
    fault "$*: '$input': status $status, wanted '$wanted'"
  else
    pass "$*"
  fi
}

# Nothing is left in scratch space; where the output goes there is only `result`.
clean() {
  if [ -n "$(ls -A "$disk")" ]; then
    fault "$1: left in scratch space: $(ls -A "$disk")"
  elif [ -n "$(find out -mindepth 1 ! -path out/result)" ]; then
    fault "$1: left beside the output: $(ls -A out)"
  else
    return 0
  fi
  rm -rf disk out
  mkdir disk out
  return 1
}

conclude() {
  echo "$name: $passed passed, $failures failed"
  [ $failures -eq 0 ]
  exit
}

# refuses PATTERN ARGUMENTS...: status 2, one line, nothing left, out/result as
# `old` is. By the name $sort_as if that is set.
refuses() {
  pattern=$1
  shift
  try "${sort_as:-pems-sort}" "$@"
  if [ $status -ne 2 ] || [ -s stdout.txt ] ||
    [ "$(wc -l <stderr.txt)" -ne 1 ] ||
    ! grep -Eq "^pems: .*$pattern" stderr.txt; then
    fault "$*: status $status, not one line with '$pattern'"
  elif ! cmp -s old out/result; then
    fault "$*: the old output has changed"
  elif clean "$*"; then
    pass "$*"
  fi
  cp old out/result
}
