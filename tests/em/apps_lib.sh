# shellcheck shell=sh disable=SC2034
# What tests of the programs in apps/ share: they leave no scratch in $work/disk,
# and their last output is in $work/out and $work/err.
set -u
apps=${top_builddir:-$(pwd)}/apps
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
perl=${PERL:-perl}
work=$(mktemp -d "${TESTDIR:-${TMPDIR:-/var/tmp}}/pems-apps.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/disk"
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"
status=0

fail() {
  echo "FAIL $*"
  [ ! -s "$work/err" ] || sed 's/^/    /' "$work/err"
  [ ! -s "$work/out" ] || sed 's/^/    /' "$work/out"
  status=1
}

# try WHAT COMMAND...: passes if the command does, and leaves no scratch.
try() {
  title=$1
  shift
  if ! limited "$@" >"$work/out" 2>"$work/err"; then
    fail "$title"
  elif [ -n "$(ls "$work/disk")" ]; then
    fail "$title: left $(ls "$work/disk")"
  fi
}

# refuse WHAT PATTERN COMMAND...: passes if the command fails and says so.
refuse() {
  title=$1
  pattern=$2
  shift 2
  if limited "$@" >"$work/out" 2>"$work/err"; then
    fail "$title: was not refused"
  elif ! grep -q -- "$pattern" "$work/err"; then
    fail "$title: does not say '$pattern'"
  elif [ -n "$(ls "$work/disk")" ]; then
    fail "$title: left $(ls "$work/disk")"
  fi
}

# value KEY: of the RESULT line of the last command.
value() {
  sed -n "s/^RESULT .*\<$1=\([^ ]*\).*/\1/p" "$work/out" | head -n 1
}

# at_least KEY NUMBER: it has that much.
at_least() {
  number=$(value "$1")
  [ "${number:-0}" -ge "$2" ] ||
    fail "$title: $1 is ${number:-not there}, not $2 or more"
}
