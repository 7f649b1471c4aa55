/* open, dup, close and their kin, interposed: the files that programs of jobs
   with checkpoints open get numbers of their own (descriptor.h), and their
   sockets are known. Record locks are the rank's (record_lock.h). Shared memory
   of the MPI is noted, to be removed. */
#define _GNU_SOURCE
#include "interpose/descriptor.h"
#include "interpose/malloc.h"
#include "interpose/real.h"
#include "interpose/record_lock.h"

#include "base/limit.h"
#include "base/self.h"
#include "mpi_below/keeper.h"
#include "vp/vp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* In a forked child, too: it has the numbers of its parent. */
static int result(int fd, const void *caller) {
  if (fd < 0 && malloc_is_program(caller)) {
    descriptor_lacks();
  }
  return fd >= 0 && malloc_is_program(caller) ? descriptor_take(fd) : fd;
}

static bool has_mode(int flags) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

/* A mode that is not given is not read. */
#define TAKE_MODE(mode)                                                        \
  mode_t mode = 0;                                                             \
  if (has_mode(flags)) {                                                       \
    va_list args;                                                              \
    va_start(args, flags);                                                     \
    mode = va_arg(args, mode_t);                                               \
    va_end(args);                                                              \
  }

EXPORT int open(const char *path, int flags, ...) {
  INTERPOSE_REAL(open)
  TAKE_MODE(mode)
  return result(real(path, flags, mode), CALLER);
}

EXPORT int open64(const char *path, int flags, ...) {
  INTERPOSE_REAL(open64)
  TAKE_MODE(mode)
  return result(real(path, flags, mode), CALLER);
}

EXPORT int openat(int dir, const char *path, int flags, ...) {
  INTERPOSE_REAL(openat)
  TAKE_MODE(mode)
  return result(real(dir, path, flags, mode), CALLER);
}

EXPORT int openat64(int dir, const char *path, int flags, ...) {
  INTERPOSE_REAL(openat64)
  TAKE_MODE(mode)
  return result(real(dir, path, flags, mode), CALLER);
}

/* What <fcntl.h> makes of them with -D_FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

EXPORT int __open_2(const char *path, int flags) {
  INTERPOSE_REAL(__open_2)
  return result(real(path, flags), CALLER);
}

EXPORT int __open64_2(const char *path, int flags) {
  INTERPOSE_REAL(__open64_2)
  return result(real(path, flags), CALLER);
}

EXPORT int creat(const char *path, mode_t mode) {
  INTERPOSE_REAL(creat)
  return result(real(path, mode), CALLER);
}

EXPORT int creat64(const char *path, mode_t mode) {
  INTERPOSE_REAL(creat64)
  return result(real(path, mode), CALLER);
}

EXPORT int mkstemp(char *path) {
  INTERPOSE_REAL(mkstemp)
  const int fd = real(path);
  if (fd >= 0) {
    keeper_note_segment(path);
  }
  return result(fd, CALLER);
}

EXPORT int mkstemp64(char *path) {
  INTERPOSE_REAL(mkstemp64)
  return result(real(path), CALLER);
}

EXPORT int mkostemp(char *path, int flags) {
  INTERPOSE_REAL(mkostemp)
  return result(real(path, flags), CALLER);
}

EXPORT int mkostemp64(char *path, int flags) {
  INTERPOSE_REAL(mkostemp64)
  return result(real(path, flags), CALLER);
}

/* Not a number of the program's own: such memory is in no checkpoint. */
EXPORT int shm_open(const char *name, int flags, mode_t mode) {
  INTERPOSE_REAL(shm_open)
  char path[PATH_MAX];
  if (flags & O_CREAT) {
    snprintf(path, sizeof(path), "/dev/shm/%s", name + strspn(name, "/"));
    keeper_note_segment(path);
  }
  return real(name, flags, mode);
}

EXPORT int socket(int domain, int type, int protocol) {
  INTERPOSE_REAL(socket)
  return result(real(domain, type, protocol), CALLER);
}

EXPORT int socketpair(int domain, int type, int protocol, int ends[2]) {
  INTERPOSE_REAL(socketpair)
  const int code = real(domain, type, protocol, ends);
  if (code == 0) {
    ends[0] = result(ends[0], CALLER);
    ends[1] = result(ends[1], CALLER);
  }
  return code;
}

EXPORT int accept(int fd, struct sockaddr *from, socklen_t *n) {
  INTERPOSE_REAL(accept)
  return result(real(fd, from, n), CALLER);
}

EXPORT int accept4(int fd, struct sockaddr *from, socklen_t *n, int flags) {
  INTERPOSE_REAL(accept4)
  return result(real(fd, from, n, flags), CALLER);
}

/* --- copies --- */

EXPORT int dup(int fd) {
  INTERPOSE_REAL(dup)
  return result(real(fd), CALLER);
}

/* A number that the program wants is what it gets. */
static int control(__typeof__(fcntl) *real, int fd, int command, long argument,
                   const void *caller) {
  const int is = real(fd, command, argument);
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? result(is, caller)
                                                          : is;
}

/* Whatever the argument is, it has a register of its own. */
#define TAKE_ARGUMENT(argument)                                                \
  va_list args;                                                                \
  va_start(args, command);                                                     \
  const long argument = va_arg(args, long);                                    \
  va_end(args);

EXPORT int fcntl(int fd, int command, ...) {
  INTERPOSE_REAL(fcntl)
  TAKE_ARGUMENT(argument)
  if (record_lock_is(fd, command)) {
    return record_lock_control(fd, command, (struct flock *)argument);
  }
  return control(real, fd, command, argument, CALLER);
}

EXPORT int fcntl64(int fd, int command, ...) {
  INTERPOSE_REAL(fcntl64)
  TAKE_ARGUMENT(argument)
  if (record_lock_is(fd, command)) {
    return record_lock_control(fd, command, (struct flock *)argument);
  }
  return control(real, fd, command, argument, CALLER);
}

/* F_TEST tells the rank that has the lock of none, as F_GETLK does. */
static int lock_part(int fd, int command, off_t n) {
  struct flock l = {.l_type = command == F_ULOCK  ? F_UNLCK
                              : command == F_TEST ? F_RDLCK
                                                  : F_WRLCK,
                    .l_whence = SEEK_CUR,
                    .l_len = n};
  if (command == F_LOCK) {
    return record_lock_control(fd, F_SETLKW, &l);
  }
  if (command == F_TLOCK || command == F_ULOCK) {
    return record_lock_control(fd, F_SETLK, &l);
  }
  if (command != F_TEST) {
    errno = EINVAL;
    return -1;
  }
  const int code = record_lock_control(fd, F_GETLK, &l);
  if (code == 0 && l.l_type != F_UNLCK) {
    errno = EACCES;
    return -1;
  }
  return code;
}

EXPORT int lockf(int fd, int command, off_t n) {
  INTERPOSE_REAL(lockf)
  return record_lock_is(fd, F_SETLK) ? lock_part(fd, command, n)
                                     : real(fd, command, n);
}

EXPORT int lockf64(int fd, int command, off64_t n) {
  INTERPOSE_REAL(lockf64)
  return record_lock_is(fd, F_SETLK) ? lock_part(fd, command, n)
                                     : real(fd, command, n);
}

/* --- closing --- */

EXPORT int close(int fd) {
  INTERPOSE_REAL(close)
  record_lock_close(fd);
  return real(fd);
}

EXPORT int dup2(int from, int to) {
  INTERPOSE_REAL(dup2)
  if (from != to) {
    record_lock_close(to);
  }
  return real(from, to);
}

EXPORT int dup3(int from, int to, int flags) {
  INTERPOSE_REAL(dup3)
  record_lock_close(to);
  return real(from, to, flags);
}

/* --- how many there may be ---

   Programs see the limit that they would have as processes: some close all
   descriptors up to it, make tables of so many, or trust that select will do.
   What they set is never made less than the ranks of the process share. */

static bool is_ranks(__rlimit_resource_t resource, const void *caller) {
  return resource == RLIMIT_NOFILE && malloc_is_program(caller) &&
         !self_native() && vp_in_job();
}

static int get_limit(__typeof__(getrlimit) *real, __rlimit_resource_t resource,
                     struct rlimit *to, const void *caller) {
  const int code = real(resource, to);
  if (code == 0 && is_ranks(resource, caller)) {
    to->rlim_cur = limit_files(to->rlim_cur);
  }
  return code;
}

static int set_limit(__typeof__(setrlimit) *real, __rlimit_resource_t resource,
                     const struct rlimit *from, const void *caller) {
  INTERPOSE_REAL_AS(get, getrlimit)
  struct rlimit now;
  if (!is_ranks(resource, caller) || from->rlim_cur > from->rlim_max ||
      get(resource, &now) != 0) {
    return real(resource, from);
  }
  const struct rlimit to = {from->rlim_cur > now.rlim_cur   ? from->rlim_cur
                            : now.rlim_cur < from->rlim_max ? now.rlim_cur
                                                            : from->rlim_max,
                            from->rlim_max};
  const int code = real(resource, &to);
  if (code == 0) {
    limit_files_become(from->rlim_cur);
  }
  return code;
}

EXPORT int getrlimit(__rlimit_resource_t resource, struct rlimit *to) {
  INTERPOSE_REAL(getrlimit)
  return get_limit(real, resource, to, CALLER);
}

EXPORT int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *to) {
  INTERPOSE_REAL(getrlimit)
  return get_limit(real, resource, (struct rlimit *)to, CALLER);
}

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *from) {
  INTERPOSE_REAL(setrlimit)
  return set_limit(real, resource, from, CALLER);
}

EXPORT int setrlimit64(__rlimit_resource_t resource,
                       const struct rlimit64 *from) {
  INTERPOSE_REAL(setrlimit)
  return set_limit(real, resource, (const struct rlimit *)from, CALLER);
}

static int process_limit(pid_t pid, enum __rlimit_resource resource,
                         const struct rlimit *from, struct rlimit *to,
                         const void *caller) {
  INTERPOSE_REAL(prlimit)
  INTERPOSE_REAL_AS(get, getrlimit)
  INTERPOSE_REAL_AS(set, setrlimit)
  if ((pid && pid != getpid()) || !is_ranks(resource, caller)) {
    return real(pid, resource, from, to);
  }
  const int code = to ? get_limit(get, resource, to, caller) : 0;
  return code || !from ? code : set_limit(set, resource, from, caller);
}

EXPORT int prlimit(pid_t pid, enum __rlimit_resource resource,
                   const struct rlimit *from, struct rlimit *to) {
  return process_limit(pid, resource, from, to, CALLER);
}

EXPORT int prlimit64(pid_t pid, enum __rlimit_resource resource,
                     const struct rlimit64 *from, struct rlimit64 *to) {
  return process_limit(pid, resource, (const struct rlimit *)from,
                       (struct rlimit *)to, CALLER);
}

EXPORT long sysconf(int name) {
  INTERPOSE_REAL(sysconf)
  const long is = real(name);
  return name == _SC_OPEN_MAX && is > 0 && is_ranks(RLIMIT_NOFILE, CALLER)
             ? (long)limit_files((uint64_t)is)
             : is;
}

EXPORT int getdtablesize(void) {
  INTERPOSE_REAL(getdtablesize)
  const int is = real();
  return is > 0 && is_ranks(RLIMIT_NOFILE, CALLER)
             ? (int)limit_files((uint64_t)is)
             : is;
}
