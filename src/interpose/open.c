/* open, dup and their kin, interposed: the files that programs of jobs with
   checkpoints open get numbers of their own (descriptor.h), and their sockets
   are known. Shared memory of the MPI is noted, to be removed. */
#define _GNU_SOURCE
#include "interpose/descriptor.h"
#include "interpose/malloc.h"
#include "interpose/real.h"

#include "base/self.h"
#include "mpi_below/keeper.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* In a forked child, too: it has the numbers of its parent. */
static int result(int fd, const void *caller) {
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
  return control(real, fd, command, argument, CALLER);
}

EXPORT int fcntl64(int fd, int command, ...) {
  INTERPOSE_REAL(fcntl64)
  TAKE_ARGUMENT(argument)
  return control(real, fd, command, argument, CALLER);
}
