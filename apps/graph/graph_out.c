#include "graph_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph.h"

enum {
  BUFFER = 1 << 20,
  NUMBER_MOST = 24, /* bytes of a number, its sign and what is after it */
};

static int failed(struct graph_out *o) {
  o->code = errno;
  return graph_failure(o->error, o->code,
                       "cannot write: %.300s: %s: give a place that has room "
                       "and may be written",
                       o->path, strerror(o->code));
}

/* A name that nobody has: the path's, and this process's number. */
static char *temporary_name(const char *path) {
  const size_t room = strlen(path) + 32;
  char *const name = malloc(room);
  if (name) {
    snprintf(name, room, "%s.part%ld", path, (long)getpid());
  }
  return name;
}

int graph_out_open(struct graph_out *o, const char *path,
                   struct pems_error *error) {
  struct stat is;
  const bool special = stat(path, &is) == 0 && !S_ISREG(is.st_mode);
  *o = (struct graph_out){.path = path, .error = error};
  o->buffer = graph_memory(BUFFER, error);
  o->temporary = special ? NULL : temporary_name(path);
  if (!o->buffer || (!special && !o->temporary)) {
    free(o->buffer);
    free(o->temporary);
    errno = ENOMEM;
    return failed(o);
  }
  o->fd = open(special ? path : o->temporary,
               O_WRONLY | O_CLOEXEC | (special ? 0 : O_CREAT | O_TRUNC), 0666);
  if (o->fd >= 0) {
    return 0;
  }
  failed(o);
  free(o->buffer);
  free(o->temporary);
  return o->code;
}

static void write_all(struct graph_out *o, const char *bytes, uint64_t n) {
  while (n > 0 && !o->code) {
    const ssize_t done = write(o->fd, bytes, n < 1 << 30 ? n : 1 << 30);
    if (done < 0 && errno != EINTR) {
      failed(o);
    } else if (done > 0) {
      bytes += done;
      n -= (uint64_t)done;
    }
  }
}

static void flush(struct graph_out *o) {
  write_all(o, o->buffer, o->used);
  o->used = 0;
}

void graph_out_bytes(struct graph_out *o, const void *bytes, uint64_t n) {
  if (n > BUFFER - o->used) {
    flush(o);
  }
  if (n > BUFFER) {
    write_all(o, bytes, n);
    return;
  }
  if (n == 0) {
    return; /* then there may be no bytes to point to */
  }
  memcpy(o->buffer + o->used, bytes, n);
  o->used += n;
}

void graph_out_pad(struct graph_out *o, uint64_t bytes, size_t unit) {
  static const char zeros[4096];
  graph_out_bytes(o, zeros, (unit - bytes % unit) % unit);
}

void graph_out_text(struct graph_out *o, const char *text) {
  graph_out_bytes(o, text, strlen(text));
}

void graph_out_number(struct graph_out *o, uint64_t number, char after) {
  char digits[NUMBER_MOST];
  char *begin = digits + NUMBER_MOST;
  *--begin = after;
  do {
    *--begin = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  graph_out_bytes(o, begin, (uint64_t)(digits + NUMBER_MOST - begin));
}

void graph_out_signed(struct graph_out *o, int32_t number, char after) {
  if (number < 0) {
    graph_out_bytes(o, "-", 1);
  }
  graph_out_number(o, (uint64_t)(number < 0 ? -(int64_t)number : number),
                   after);
}

int graph_out_close(struct graph_out *o) {
  flush(o);
  if (close(o->fd) && !o->code) {
    failed(o);
  }
  if (o->temporary && !o->code && rename(o->temporary, o->path)) {
    failed(o);
  }
  if (o->temporary && o->code) {
    unlink(o->temporary);
  }
  free(o->temporary);
  free(o->buffer);
  return o->code;
}
