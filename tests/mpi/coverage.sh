#!/bin/sh
# doc/mpi-coverage.md is what `make coverage` would write. Skipped where this MPI has
# no column there, or has other functions than those named there.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${top_builddir:-$top/build}
base=${TESTDIR:-${TMPDIR:-/var/tmp}}
mkdir -p "$base"
work=$(mktemp -d "$base/pems-coverage.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

cp "$top/doc/mpi-coverage.md" "$work/committed" || exit 1
cp "$work/committed" "$work/written"
make -s -C "$build" coverage COVERAGE="$work/written" >"$work/log" 2>&1 || {
  echo "FAIL coverage: make coverage:"
  cat "$work/log"
  exit 1
}
for file in committed written; do
  awk -F'|' '/^\| (MPI|function)/ {
    printf "%s", $2
    for (i = 3; i < NF - 1; i++) printf " %d", $i != ""
    print "" }' "$work/$file" >"$work/names.$file"
done
if ! cmp -s "$work/names.committed" "$work/names.written"; then
  echo "SKIP coverage: this mpi.h declares other functions"
  exit 77
fi
diff "$work/committed" "$work/written" >"$work/diff" || {
  echo "FAIL coverage: doc/mpi-coverage.md is old: run make coverage"
  cat "$work/diff"
  exit 1
}
echo "PASS coverage"
