/* System calls that this process may not make at all: a filter (seccomp), as
   containers have, answers EPERM, or ENOSYS as an old kernel does. Nothing that
   they are called with would help. */
#ifndef PEMS_OS_REFUSED_H
#define PEMS_OS_REFUSED_H

#include <errno.h>
#include <stdbool.h>

/* May that be why a call that needs no privilege failed with this code? */
static inline bool refused(int code) {
  return code == EPERM || code == ENOSYS;
}

/* Advice for a call that failed with `code`: `allow` if that may mean refused,
   else `otherwise`. */
static inline const char *refused_advice(int code, const char *allow,
                                         const char *otherwise) {
  return refused(code) ? allow : otherwise;
}

#endif
