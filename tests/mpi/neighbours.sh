#!/bin/sh
# How large data go between processes of a host: read where they are, or copied
# by the MPI, as --pems-between says and the system allows (between.c: that they
# arrive, either way).
. "$(dirname "$0")/../fault/lib.sh"

"$pemscc" -O1 -o "$work/between" "$here/tests/mpi/between.c" || exit 1

# What a system says that does not allow it: to pems, which tries with 8 bytes,
# not to the MPI.
cat >"$work/deny.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long n,
                         const struct iovec *there, unsigned long m,
                         unsigned long flags) {
  if (there[0].iov_len == 8) {
    errno = EPERM;
    return -1;
  }
  return syscall(SYS_process_vm_readv, pid, here, n, there, m, flags);
}
END
${CC:-cc} -shared -fPIC -o "$work/deny.so" "$work/deny.c" || exit 1

# read_of: bytes that were read from other processes' memory.
read_of() {
  sed -n 's/^RESULT pems .* net_read=\([0-9]*\) .*/\1/p' "$err" | head -n 1
}

for between in auto read copy; do
  begin "--pems-between=$between"
  run -n 4 --pems-procs=2 --pems-stats --pems-between=$between "$work/between"
  expect_status 0
  bytes=$(read_of)
  echo "RESULT between=$between net_read=$bytes"
  case $between in
  copy) [ "${bytes:-1}" -eq 0 ] || fault "$bytes bytes were read" ;;
  *) [ "${bytes:-0}" -gt 100000000 ] || fault "only $bytes bytes were read" ;;
  esac
  end
done

# On its way to disk, memory that was offered is gone: it is asked for.
begin "offers that do not hold"
PEMS_TEST_EVICT_ALWAYS=1 run -n 4 --pems-procs=2 --pems-k=1 --pems-context=40M \
  --pems-between=read "$work/between"
expect_status 0
end

begin "not allowed"
LD_PRELOAD="$work/deny.so" run -n 4 --pems-procs=2 --pems-stats "$work/between"
expect_status 0
[ "$(read_of)" = 0 ] || fault "$(read_of) bytes were read"
expect_line "messages between processes of a host are copied by the MPI: process_vm_readv: Operation not permitted"
end

begin "not allowed, and asked for"
LD_PRELOAD="$work/deny.so" run -n 4 --pems-procs=2 --pems-between=read \
  "$work/between"
expect_status 2
expect_line "--pems-between=read: process_vm_readv: Operation not permitted"
end

conclude
