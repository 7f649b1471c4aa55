#!/bin/sh
# No function of mpi.h slips through to the real library: see slip.c.
# Needs PEMSCC, PEMSRUN (or both on the PATH) and top_builddir, where
# src/mpi_abi/refused.h is.
set -u
here=$(cd "$(dirname "$0")" && pwd)
builddir=${top_builddir:-$(cd "$here/../.." && pwd)}
pemscc=${PEMSCC:-pemscc}
pemsrun=${PEMSRUN:-pemsrun}
# shellcheck source=tests/limit.sh
. "$here/../limit.sh"
base=${TESTDIR:-${TMPDIR:-/var/tmp}}
mkdir -p "$base"
work=$(mktemp -d "$base/pems-slip.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

"$pemscc" -O1 -I"$builddir/src" -o "$work/slip" "$here/slip.c" || {
  echo "FAIL slip: $pemscc could not compile slip.c"
  exit 1
}
limited "$pemsrun" -n 2 "$work/slip"
status=$?
if [ $status -eq 0 ]; then
  echo "PASS slip"
else
  echo "FAIL slip: exit status $status"
fi
exit $status
