#define _GNU_SOURCE
#include "interpose/tag.h"

#include "base/self.h"
#include "interpose/malloc.h"
#include "interpose/program/private.h"
#include "vp/vp.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { BUFFER = 8192 }; /* bytes: no shorter line is ever torn */

static bool tagging;

/* libc's own, which is not replaced below. */
ssize_t __write(int fd, const void *bytes, size_t n);

static bool write_all(int fd, const char *bytes, size_t n) {
  while (n > 0) {
    const ssize_t written = __write(fd, bytes, n);
    if (written <= 0) {
      return false;
    }
    bytes += written;
    n -= (size_t)written;
  }
  return true;
}

/* Whole lines go out in one piece with the tags before them. */
static ssize_t write_tagged(int fd, const char *bytes, size_t n) {
  struct vp *vp = self.vp;
  char buffer[BUFFER], tag[32];
  bool *begun = &vp->line_begun[fd == STDERR_FILENO];
  const size_t tag_length =
      (size_t)snprintf(tag, sizeof(tag), "[1,%d]<%s>:", vp->rank,
                       fd == STDERR_FILENO ? "stderr" : "stdout");
  size_t used = 0;
  for (size_t done = 0; done < n;) {
    const char *end = memchr(bytes + done, '\n', n - done);
    size_t part = end ? (size_t)(end - bytes) + 1 - done : n - done;
    part = part < BUFFER / 2 ? part : BUFFER / 2;
    if (used + tag_length + part > BUFFER) {
      if (!write_all(fd, buffer, used)) {
        return -1;
      }
      used = 0;
    }
    if (!*begun) {
      memcpy(buffer + used, tag, tag_length);
      used += tag_length;
    }
    memcpy(buffer + used, bytes + done, part);
    used += part;
    done += part;
    *begun = buffer[used - 1] != '\n';
  }
  return write_all(fd, buffer, used) ? (ssize_t)n : -1;
}

static bool is_tagged(int fd) {
  if (self_native() || (fd != STDOUT_FILENO && fd != STDERR_FILENO)) {
    return false;
  }
  return (tagging || (fd == STDERR_FILENO && self.vp->tags_errors)) &&
         vp_in_job();
}

/* Of pems's program for Python, when nobody has caught an exception: what the
   rank writes to stderr itself from now on. No header: that calls it only. */
EXPORT void pems_api_tag_errors(void);
void pems_api_tag_errors(void) {
  if (!self_native()) {
    self.vp->tags_errors = true;
  }
}

/* Fortran's output, and what a program writes without a stream. */
EXPORT ssize_t write(int fd, const void *bytes, size_t n) {
  return is_tagged(fd) ? write_tagged(fd, bytes, n) : __write(fd, bytes, n);
}

static ssize_t put(void *fd, const char *bytes, size_t n) {
  const int number = (int)(intptr_t)fd;
  const ssize_t put = is_tagged(number)
                          ? write_tagged(number, bytes, n)
                          : (write_all(number, bytes, n) ? (ssize_t)n : -1);
  return put < 0 ? 0 : put; /* as streams of this kind have it */
}

static FILE *open_tagged(int fd) {
  const cookie_io_functions_t functions = {.write = put};
  FILE *f = fopencookie((void *)(intptr_t)fd, "w", functions);
  if (f) {
    f->_fileno = fd; /* for the program, which may ask; never used to write */
  }
  return f;
}

/* Memory of the rank's context has what it has after a restart. */
static FILE *open_kept(int fd) {
  malloc_keep(true);
  FILE *const f = fdopen(fd, "w");
  malloc_keep(false);
  return f;
}

EXPORT FILE *pems_tagged_stdout(void) {
  return tagging        ? open_tagged(STDOUT_FILENO)
         : vp_superstep ? open_kept(STDOUT_FILENO)
                        : NULL;
}

/* stderr is one stream for all ranks, without a buffer. */
int tag_start(void) {
  FILE *f = open_tagged(STDERR_FILENO);
  if (!f || setvbuf(f, NULL, _IONBF, 0) != 0) {
    return -1;
  }
  stderr = f;
  tagging = true;
  return 0;
}
