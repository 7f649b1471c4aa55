#define _GNU_SOURCE
#include "base/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/message.h"
#include "os/pages.h"

#define MIB (UINT64_C(1) << 20)

/* Fields of /proc/self/statm, in pages: all addresses, and private memory that
   may be written, with the stack. */
enum { STATM_ALL = 0, STATM_DATA = 5 };

static uint64_t used(int field) {
  char text[128], *at = text;
  const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
  if (fd >= 0) {
    close(fd);
  }
  text[n > 0 ? n : 0] = '\0';
  uint64_t pages = strtoull(at, &at, 10);
  for (int i = 0; i < field; i++) {
    pages = strtoull(at, &at, 10);
  }
  return pages * PAGE;
}

/* RLIM_INFINITY: there is none. */
static rlim_t limit_of(int resource) {
  struct rlimit limit;
  return getrlimit((__rlimit_resource_t)resource, &limit) ? RLIM_INFINITY
                                                          : limit.rlim_cur;
}

/* Do so many bytes more exceed it? The C library asks for more than a caller
   of malloc, so a little room counts as none. */
static bool exceeds(int resource, int field, uint64_t bytes) {
  const rlim_t most = limit_of(resource);
  return most != RLIM_INFINITY && used(field) + bytes + MIB > most;
}

static uint64_t default_stack(void) {
  pthread_attr_t attr;
  size_t size = 0;
  if (pthread_getattr_default_np(&attr) == 0) {
    pthread_attr_getstacksize(&attr, &size);
    pthread_attr_destroy(&attr);
  }
  return size;
}

struct named {
  int resource;
  char option;      /* of the shell's ulimit, */
  unsigned divisor; /* which counts in so many bytes: shells differ, so they are
                       named; or 1 */
};

static const char *name(char text[LIMIT_TEXT], struct named which) {
  snprintf(text, LIMIT_TEXT, "ulimit -%c is %llu%s: raise it", which.option,
           (unsigned long long)limit_of(which.resource) / which.divisor,
           which.divisor > 1 ? " KiB" : "");
  return text;
}

static const char *name_memory(char text[LIMIT_TEXT], enum limit_use use,
                               uint64_t bytes) {
  if (exceeds(RLIMIT_AS, STATM_ALL, bytes)) {
    return name(text, (struct named){RLIMIT_AS, 'v', 1024});
  }
  if (use != LIMIT_ADDRESSES && exceeds(RLIMIT_DATA, STATM_DATA, bytes)) {
    return name(text, (struct named){RLIMIT_DATA, 'd', 1024});
  }
  return NULL;
}

/* The C library says EAGAIN for want of memory, too. How many threads the user
   has on this machine cannot be told from inside a container, whose own limit
   has the same effect. */
static const char *name_threads(char text[LIMIT_TEXT], uint64_t bytes) {
  const char *const memory =
      name_memory(text, LIMIT_THREAD, bytes ? bytes : default_stack());
  const rlim_t most = limit_of(RLIMIT_NPROC);
  if (memory || most == RLIM_INFINITY || geteuid() == 0) {
    return memory;
  }
  snprintf(text, LIMIT_TEXT,
           "ulimit -u is %llu: raise it, or the cgroup's pids.max",
           (unsigned long long)most);
  return text;
}

static const char *name_file_size(char text[LIMIT_TEXT], uint64_t bytes) {
  const rlim_t most = limit_of(RLIMIT_FSIZE);
  return most != RLIM_INFINITY && (bytes == 0 || bytes > most)
             ? name(text, (struct named){RLIMIT_FSIZE, 'f', 1024})
             : NULL;
}

const char *limit_advice(char text[LIMIT_TEXT], enum limit_use use, int code,
                         uint64_t bytes, const char *otherwise) {
  const char *advice = NULL;
  if (code == EMFILE) {
    advice = name(text, (struct named){RLIMIT_NOFILE, 'n', 1});
  } else if (code == EFBIG) {
    advice = name_file_size(text, bytes);
  } else if (use == LIMIT_THREAD && (code == EAGAIN || code == ENOMEM)) {
    advice = name_threads(text, bytes);
  } else if (code == ENOMEM) {
    advice = name_memory(text, use, bytes);
  }
  return advice ? advice : otherwise;
}

void limit_need_files(unsigned least) {
  const rlim_t most = limit_of(RLIMIT_NOFILE);
  if (most < least) {
    msg_fail(MSG_USAGE,
             "open files: too few for MPI: ulimit -n is %llu: raise it to %u "
             "or more",
             (unsigned long long)most, least);
  }
}

/* The soft limit before it was raised, or what a rank has set since; 0: it was
   not. */
static _Atomic uint64_t files;

static void set_files(rlim_t soft) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
  }
}

static void in_child(void) {
  set_files((rlim_t)files);
}

void limit_share_files(unsigned n) {
  enum { OWN = 1024 }; /* of pems, and MPI's */
  const rlim_t soft = limit_of(RLIMIT_NOFILE);
  if (soft != RLIM_INFINITY && n) {
    files = soft;
    set_files(soft < (RLIM_INFINITY - OWN) / n ? soft * n + OWN
                                               : RLIM_INFINITY);
    pthread_atfork(NULL, NULL, in_child);
  }
}

uint64_t limit_files(uint64_t is) {
  const uint64_t shown = files;
  return shown && shown < is ? shown : is;
}

void limit_files_become(uint64_t soft) {
  if (files) {
    files = soft;
  }
}
