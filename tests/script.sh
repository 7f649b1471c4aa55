# shellcheck shell=sh
# How tests begin that are scripts of their own: sourced first, from a folder
# below tests. Gives $script, its name, and $here, its folder; `limited` and what
# starts jobs; an empty folder $work, in which the script is then, and which is
# removed at the end. `fail WORD...` says what is wrong; `conclude` ends the
# script, `skip WORD...` says why it cannot run here.
set -u
script=$(basename "$0" .sh)
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/limit.sh
. "$here/../limit.sh"
# shellcheck source=tests/launcher.sh
. "$here/../launcher.sh"
work=$(mktemp -d "${TESTDIR:-${TMPDIR:-/var/tmp}}/pems-$script.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

failures=0
fail() {
  failures=$((failures + 1))
  echo "FAIL: $*"
}

skip() {
  echo "SKIP $script: $*"
  exit 77
}

conclude() {
  echo "$script: $failures failures"
  [ $failures -eq 0 ]
  exit
}
