# shellcheck shell=sh
# What the tests of the commands share: a directory $work of the test's own, a
# program to run, and `expect`. Needs pemscc and pemsrun in the PATH. A test
# ends with `conclude`. Exit status: 0 passed, 1 failed, 77 skipped.
set -u

# shellcheck disable=SC2034 # for the tests
here=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
name=$(basename "$0" .sh)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/pems-$name.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/limit.sh
. "$here/tests/limit.sh"
cd "$work" || exit 1
# The make that runs the tests is not that of the projects that they build.
unset MAKEFLAGS MFLAGS MAKELEVEL

failures=0

skip() {
  echo "SKIP $name: $*"
  exit 77
}

command -v pemscc >/dev/null || skip "pemscc is not in the PATH: build pems first"

# Runs a command; $status, $work/out and $work/err are what came of it.
try() {
  limited "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
}

fail() {
  failures=$((failures + 1))
  echo "FAIL $*"
  sed 's/^/    stdout: /' "$work/out"
  sed 's/^/    stderr: /' "$work/err"
}

# expect TITLE STATUS [OUT [ERR]] -- COMMAND...: its exit status, and patterns
# (extended regular expressions) that its output and its messages match.
expect() {
  title=$1
  wanted=$2
  shift 2
  out_pattern=''
  err_pattern=''
  if [ "$1" != -- ]; then
    out_pattern=$1
    shift
  fi
  if [ "$1" != -- ]; then
    err_pattern=$1
    shift
  fi
  shift
  try "$@"
  if [ $status -ne "$wanted" ]; then
    fail "$title: exit status $status, expected $wanted"
  elif [ -n "$out_pattern" ] && ! grep -Eq -e "$out_pattern" "$work/out"; then
    fail "$title: stdout does not match '$out_pattern'"
  elif [ -n "$err_pattern" ] && ! grep -Eq -e "$err_pattern" "$work/err"; then
    fail "$title: stderr does not match '$err_pattern'"
  else
    echo "PASS $title"
  fi
}

# refused TITLE PATTERN COMMAND...: exit status 2, nothing on stdout and one
# line of pems on stderr that matches.
refused() {
  title=$1
  pattern=$2
  shift 2
  try "$@"
  if [ $status -ne 2 ]; then
    fail "$title: exit status $status, expected 2"
  elif [ -s "$work/out" ]; then
    fail "$title: something was printed on stdout"
  elif [ "$(wc -l <"$work/err")" -ne 1 ]; then
    fail "$title: not one line on stderr"
  elif ! grep -Eq -e "^pems: .*$pattern" "$work/err"; then
    fail "$title: stderr does not match '^pems: .*$pattern'"
  else
    echo "PASS $title"
  fi
}

# lacks TITLE PATTERN COMMAND...: succeeds, and stdout does not match.
lacks() {
  title=$1
  pattern=$2
  shift 2
  try "$@"
  if [ $status -ne 0 ]; then
    fail "$title: exit status $status, expected 0"
  elif grep -Eq -e "$pattern" "$work/out"; then
    fail "$title: stdout matches '$pattern'"
  else
    echo "PASS $title"
  fi
}

conclude() {
  [ $failures -eq 0 ]
  exit
}

# hello.c: prints what it was given, and ends with the status in its argument.
cat >hello.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int calls;
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  calls++;
  printf("rank %d of %d calls %d argc %d last %s\n", rank, size, calls, argc,
         argv[argc - 1]);
  if (argc > 2 && strcmp(argv[1], "status") == 0 && rank == size - 1)
    exit(atoi(argv[2]));
  MPI_Finalize();
  return 0;
}
END
