# shellcheck shell=sh
# What the checks of the sources share: where the tree is, a folder that goes
# when the check ends, and small trees in it, in which a checker must find what
# was put wrong. A check ends with `exit $status`.
# shellcheck disable=SC2034 # top, status: for those who read this
set -u
name=$(basename "$0" .sh)
top=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
base=${TESTDIR:-${TMPDIR:-/var/tmp}}
mkdir -p "$base"
work=$(mktemp -d "$base/pems-$name.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
status=0

fail() {
  echo "FAIL $name: $*"
  status=1
}

# need COMMAND...: skips the check where one is missing.
need() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null || {
      echo "SKIP $name: no $tool"
      exit 77
    }
  done
}

# put FILE LINE...: a file of the small tree.
put() {
  mkdir -p "$work/$(dirname "$1")"
  file=$work/$1
  shift
  printf '%s\n' "$@" >"$file"
}

# finds TEXT: does check_tree, which the script defines, print a line with the
# text, and return 1?
finds() {
  check_tree >"$work/out" 2>&1
  [ $? -eq 1 ] && grep -q -e "$1" "$work/out" || {
    fail "nothing is said about: $1"
    cat "$work/out"
  }
}

# in_order WHAT: does check_tree find nothing?
in_order() {
  check_tree >"$work/out" 2>&1 || {
    fail "something is said about $1"
    cat "$work/out"
  }
}
