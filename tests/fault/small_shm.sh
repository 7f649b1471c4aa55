#!/bin/sh
# What containers lack: a small /dev/shm, where the job runs, and its processes have memory
# that they share, which is not there; and system calls that are refused.
. "$(dirname "$0")/lib.sh"

small() {
  # shellcheck disable=SC2016 # of that shell
  unshare --mount sh -c 'mount -t tmpfs -o size="$0" tmpfs /dev/shm && exec "$@"' "$@"
}
small 1M true 2>"$err" || skip "no mount namespace: $(cat "$err")"
small 1M "$mpirun" -n 2 true >"$err" 2>&1 || skip "$launcher itself: $(cat "$err")"

build tests/mpi/alltoall.c -lm
# Hydra's processes need more themselves.
case $launcher in
  hydra) sizes='64M:2' ;;
  *) sizes='1M:2 16M:8' ;;
esac
for each in $sizes; do
  begin "/dev/shm of ${each%:*}, ${each#*:} processes"
  small "${each%:*}" timeout -k 5 "$limit" "$pemsrun" -n "${each#*:}" \
    --pems-procs="${each#*:}" --pems-memory=64M --pems-disk="$disk" "$program" \
    >"$out" 2>"$err" </dev/null
  # shellcheck disable=SC2034 # for expect_status
  status=$?
  expect_status 0
  [ ! -s "$err" ] || fault "$(head -n 3 "$err")"
  end
done

cat >"$work/refuse.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int memfd_create(const char *name, unsigned flags) {
  if (strcmp(name, "pems-shared") == 0) {
    errno = EMFILE;
    return -1;
  }
  return (int)syscall(SYS_memfd_create, name, flags);
}
C
${REAL_CC:-cc} -shared -fPIC -o "$work/refuse.so" "$work/refuse.c" || exit 1
begin "no memory can be shared: one line, and messages go by the MPI"
launch env LD_PRELOAD="$work/refuse.so" "$pemsrun" -n 4 --pems-procs=2 \
  --pems-memory=64M --pems-disk="$disk" "$program"
finish
expect_status 0
expect_line 'memory shared by the processes of this host: Too many open files: '
[ "$(wc -l <"$err")" -eq 1 ] || fault "more than one line"
end

# refused CALL [OPTIONS]: with a filter of system calls; 1 is EPERM.
${REAL_CC:-cc} -o "$work/refusing" "$here/tests/fault/refusing.c" || exit 1
refused() {
  call=$1
  shift
  begin "$call is refused"
  launch "$work/refusing" "$call" 1 "$pemsrun" -n 4 --pems-memory=64M \
    --pems-disk="$disk" "$@"
  finish
}
one_line() {
  expect_line "$1"
  [ "$(wc -l <"$err")" -eq 1 ] || fault "more than one line"
  end
}

refused process_vm_readv --pems-procs=2 "$program"
expect_status 0
one_line 'messages between processes of a host are copied by the MPI: process_vm_readv: '
refused memfd_create --pems-procs=2 "$program"
expect_status 0
one_line 'memfd_create is refused: .*: allow it \(seccomp\)'
refused mremap "$program"
expect_status 2
one_line 'cannot map a copy of the program: Operation not permitted: allow mremap \(seccomp\)'
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS
refused fallocate --pems-k=1 --pems-context=24M "$program"
expect_status 0
one_line 'scratch space: .*fallocate.* filled with zeros instead: .*seccomp'
conclude
