#!/bin/sh
# A small /dev/shm, as in containers: the job runs, and its processes have memory that
# they share, which is not there.
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
    errno = EPERM;
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
expect_line 'memory shared by the processes of this host: Operation not permitted: '
[ "$(wc -l <"$err")" -eq 1 ] || fault "more than one line"
end
conclude
