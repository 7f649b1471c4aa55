#include "digraph/digraph_out.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digraph/digraph.h"
#include "disk/file.h"
#include "disk/special.h"
#include "os/whole.h"

enum {
  PIECE = 1 << 20,
  NUMBER_MOST = 24, /* bytes of a number, its sign and what is after it */
};

static int failed(struct digraph_out *o, int code) {
  o->code = code;
  return digraph_failure(o->error, code, "cannot write: %.300s: %s: %s",
                         o->path, strerror(code),
                         code == ENOSPC || code == EDQUOT ? "free some space"
                         : code == EPIPE ? "its reader has gone"
                                         : "give a place that may be written");
}

/* --- opening --- */

static int open_special(struct digraph_out *o) {
  o->fd = digraph_out_standard(o->path) ? STDOUT_FILENO : special_open(o->path);
  return o->fd < 0 ? failed(o, errno) : 0;
}

static int open_file(struct digraph_out *o) {
  const int code = disk_file_create(&o->file, o->path, NULL, 0, NULL);
  o->fd = -1;
  return code ? failed(o, code) : 0;
}

bool digraph_out_standard(const char *path) {
  return strcmp(path, "-") == 0;
}

int digraph_out_open(struct digraph_out *o, const char *path,
                     struct pems_error *error) {
  const bool special = digraph_out_standard(path) || special_is(path);
  *o = (struct digraph_out){.path = path, .error = error};
  o->buffer = aligned_alloc(PEMS_DISK_UNIT, 2 * PIECE);
  if (!o->buffer) {
    return failed(o, ENOMEM);
  }
  if (special ? open_special(o) : open_file(o)) {
    free(o->buffer);
  }
  return o->code;
}

/* --- pieces --- */

static void write_special(struct digraph_out *o, const char *bytes, size_t n) {
  const int error = o->code ? 0 : whole_write(o->fd, bytes, n);
  if (error) {
    failed(o, error);
  }
}

static void wait_piece(struct digraph_out *o, int i) {
  if (o->request[i].n) {
    const int code = disk_file_wait(o->file, &o->request[i]);
    o->request[i].n = 0;
    if (code && !o->code) {
      failed(o, code);
    }
  }
}

static void write_file(struct digraph_out *o, char *piece, size_t n) {
  const size_t unit = PEMS_DISK_UNIT, whole = (n + unit - 1) / unit * unit;
  struct pems_request *r = &o->request[o->current];
  memset(piece + n, 0, whole - n);
  *r = (struct pems_request){
      .block = {0, o->written}, .buf = piece, .n = whole, .write = 1};
  disk_file_start(o->file, &r, 1);
}

/* The current piece goes; the other one is free then. */
static void flush(struct digraph_out *o) {
  char *const piece = o->buffer + (size_t)o->current * PIECE;
  if (o->used && !o->code) {
    if (o->file) {
      write_file(o, piece, o->used);
      o->current ^= 1;
      wait_piece(o, o->current);
    } else {
      write_special(o, piece, o->used);
    }
  }
  o->written += o->used;
  o->used = 0;
}

void digraph_out_bytes(struct digraph_out *o, const void *bytes, uint64_t n) {
  const char *from = bytes;
  while (n > 0 && !o->code) {
    const uint64_t room = PIECE - o->used, part = n < room ? n : room;
    memcpy(o->buffer + (size_t)o->current * PIECE + o->used, from, part);
    o->used += part;
    from += part;
    n -= part;
    if (o->used == PIECE) {
      flush(o);
    }
  }
}

void digraph_out_pad(struct digraph_out *o, uint64_t bytes, size_t unit) {
  static const char zeros[4096];
  digraph_out_bytes(o, zeros, (unit - bytes % unit) % unit);
}

void digraph_out_text(struct digraph_out *o, const char *text) {
  digraph_out_bytes(o, text, strlen(text));
}

void digraph_out_number(struct digraph_out *o, uint64_t number, char after) {
  char digits[NUMBER_MOST];
  char *begin = digits + NUMBER_MOST;
  *--begin = after;
  do {
    *--begin = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  digraph_out_bytes(o, begin, (uint64_t)(digits + NUMBER_MOST - begin));
}

void digraph_out_signed(struct digraph_out *o, int32_t number, char after) {
  if (number < 0) {
    digraph_out_bytes(o, "-", 1);
  }
  digraph_out_number(o, (uint64_t)(number < 0 ? -(int64_t)number : number),
                     after);
}

static void commit(struct digraph_out *o) {
  struct pems_error error;
  const int code = disk_file_commit(o->file, o->written, &error);
  if (code && disk_file_broken(o->file)) {
    o->code = digraph_failure(o->error, code, "%s", error.text);
  } else if (code) {
    failed(o, code);
  }
}

int digraph_out_close(struct digraph_out *o) {
  flush(o);
  if (o->file) {
    wait_piece(o, 0);
    wait_piece(o, 1);
    if (!o->code) {
      commit(o);
    }
    disk_file_close(o->file);
  } else if (o->fd > STDERR_FILENO && close(o->fd) && !o->code) {
    failed(o, errno);
  }
  free(o->buffer);
  return o->code;
}
