#define _GNU_SOURCE
#include "em/lines/line_sink.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "disk/file.h"
#include "disk/special.h"
#include "em/lines/line_source.h"
#include "os/native.h"
#include "os/whole.h"

enum { PIECES = 2 };

struct line_sink {
  const char *path;
  int fd;                 /* or -1: */
  struct disk_file *file; /* with these requests */
  struct pems_request request[PIECES];
  struct memory *memory;
  size_t piece;
  unsigned char *buffer;
  int current;
  size_t filled;
  uint64_t written; /* bytes before the current piece */
};

static int write_failure(const struct line_sink *s, int code,
                         struct pems_error *error) {
  return failure(error, code, "%s: writing: %s: %s", s->path, strerror(code),
                 code == ENOSPC || code == EDQUOT ? "free some space"
                 : code == EPIPE                  ? "its reader has gone"
                                                  : "check the disk");
}

/* --- opening --- */

static int open_path(struct line_sink *s, const char *path, const char *io,
                     int depth, struct pems_error *error) {
  if (!path || strcmp(path, LINE_STANDARD) == 0) {
    s->path = "standard output";
    s->fd = STDOUT_FILENO;
    return 0;
  }
  s->path = path;
  if (!special_is(path)) {
    return disk_file_create(&s->file, path, io, depth, error);
  }
  s->fd = special_open(path);
  return s->fd < 0
             ? failure(error, errno, "output file: %s: %s: name another file",
                       path, strerror(errno))
             : 0;
}

int line_sink_open(struct line_sink **sink, const char *path, const char *io,
                   int depth, struct pems_error *error) {
  struct line_sink *const s = native_zalloc(1, sizeof(*s));
  *sink = NULL;
  if (!s) {
    return failure(error, ENOMEM, "memory: to write with: free some");
  }
  s->fd = -1;
  const int failed = open_path(s, path, io, depth, error);
  if (failed) {
    line_sink_free(s);
  } else {
    *sink = s;
  }
  return failed;
}

int line_sink_begin(struct line_sink *s, size_t piece, struct memory *memory,
                    struct pems_error *error) {
  s->piece = piece;
  s->memory = memory;
  s->buffer = memory_get(memory, PIECES * piece);
  return s->buffer ? 0
                   : failure(error, ENOMEM,
                             "memory for sorting: %zu bytes to write with: "
                             "give more",
                             PIECES * piece);
}

/* --- writing --- */

static int write_plain(struct line_sink *s, const unsigned char *at, size_t n,
                       struct pems_error *error) {
  const int code = whole_write(s->fd, at, n);
  return code ? write_failure(s, code, error) : 0;
}

static int wait_piece(struct line_sink *s, int i, struct pems_error *error) {
  struct pems_request *const r = &s->request[i];
  if (r->n == 0) {
    return 0;
  }
  const int code = disk_file_wait(s->file, r);
  r->n = 0;
  return code ? write_failure(s, code, error) : 0;
}

static int write_file(struct line_sink *s, unsigned char *at, size_t n,
                      struct pems_error *error) {
  const size_t unit = PEMS_DISK_UNIT, whole = (n + unit - 1) / unit * unit;
  struct pems_request *r = &s->request[s->current];
  memset(at + n, 0, whole - n);
  *r = (struct pems_request){
      .block = {0, s->written}, .buf = at, .n = whole, .write = 1};
  disk_file_start(s->file, &r, 1);
  s->current ^= 1;
  return wait_piece(s, s->current, error);
}

static int next_piece(struct line_sink *s, struct pems_error *error) {
  unsigned char *const at = s->buffer + (size_t)s->current * s->piece;
  const size_t n = s->filled;
  const int failed = n == 0    ? 0
                     : s->file ? write_file(s, at, n, error)
                               : write_plain(s, at, n, error);
  s->written += n;
  s->filled = 0;
  return failed;
}

int line_sink_put_bytes(struct line_sink *s, const unsigned char *bytes,
                        size_t n, struct pems_error *error) {
  while (n > 0) {
    const size_t room = s->piece - s->filled, part = n < room ? n : room;
    unsigned char *const at = s->buffer + (size_t)s->current * s->piece;
    memcpy(at + s->filled, bytes, part);
    s->filled += part;
    bytes += part;
    n -= part;
    if (s->filled == s->piece) {
      const int failed = next_piece(s, error);
      if (failed) {
        return failed;
      }
    }
  }
  return 0;
}

int line_sink_put(struct line_sink *s, const unsigned char *line, size_t n,
                  unsigned char end, struct pems_error *error) {
  if (n + 1 < s->piece - s->filled) {
    unsigned char *const at =
        s->buffer + (size_t)s->current * s->piece + s->filled;
    memcpy(at, line, n);
    at[n] = end;
    s->filled += n + 1;
    return 0;
  }
  const int failed = line_sink_put_bytes(s, line, n, error);
  return failed ? failed : line_sink_put_bytes(s, &end, 1, error);
}

int line_sink_commit(struct line_sink *s, struct pems_error *error) {
  int failed = next_piece(s, error);
  if (failed || !s->file) {
    return failed;
  }
  for (int i = 0; i < PIECES && !failed; i++) {
    failed = wait_piece(s, i, error);
  }
  return failed ? failed : disk_file_commit(s->file, s->written, error);
}

void line_sink_free(struct line_sink *s) {
  if (!s) {
    return;
  }
  for (int i = 0; i < PIECES; i++) {
    (void)wait_piece(s, i, NULL);
  }
  disk_file_close(s->file);
  if (s->fd > STDERR_FILENO) {
    close(s->fd);
  }
  if (s->buffer) {
    memory_put(s->memory, s->buffer, PIECES * s->piece);
  }
  native_free(s);
}

uint64_t line_sink_bytes(const struct line_sink *s) {
  return s->written + s->filled;
}
