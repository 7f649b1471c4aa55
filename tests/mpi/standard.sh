#!/bin/sh
# Programs that the MPI below does not pass, or not every one: on pems only, in
# one process and in several, with contexts on disk whenever their ranks wait.
# Each checks itself; those that end with status 77 need a younger MPI.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/limit.sh
. "$here/../limit.sh"
# shellcheck source=tests/launcher.sh
. "$here/../launcher.sh"
work=$(mktemp -d "${TESTDIR:-${TMPDIR:-/var/tmp}}/pems-standard.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS
status=0
for program in by_standard exchange file_ends partitioned persistent sessions; do
  "${PEMSCC:-pemscc}" -std=gnu17 -O1 -o "$work/$program" "$here/$program.c" || {
    status=1
    continue
  }
  for procs in 1 2 3; do
    limited "${PEMSRUN:-pemsrun}" -n 5 --pems-procs=$procs --pems-k=1 \
      --pems-context=24M --pems-disk="$work" "$work/$program" \
      >"$work/out" 2>&1
    case $? in
    0) ;;
    77)
      echo "$program: not run: this MPI has no such functions"
      break
      ;;
    *)
      echo "FAIL $program with $procs processes"
      head -n 8 "$work/out"
      status=1
      ;;
    esac
  done
done
exit $status
