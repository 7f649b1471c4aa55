#define _GNU_SOURCE
#include "wrappers/sort/pems_sort_output.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/failure.h"
#include "disk/file.h"
#include "disk/special.h"
#include "os/native.h"
#include "os/whole.h"

struct sort_output {
  const char *path;
  struct disk_file *file; /* NULL: what is written as it comes, to */
  int fd;
  size_t piece;
  char *buffer;                   /* two pieces */
  struct pems_request request[2]; /* of the file, one for each; n: under way */
  int current;                    /* piece that is filled */
  size_t filled;                  /* bytes of it */
  uint64_t written;               /* bytes before it */
  struct pems_disk_counts plain;
};

static int write_failure(const struct sort_output *out, int code,
                         struct pems_error *error) {
  return failure(error, code, "%s: writing: %s: %s", out->path, strerror(code),
                 code == ENOSPC || code == EDQUOT ? "free some space"
                 : code == EPIPE                  ? "its reader has gone"
                                                  : "check the disk");
}

/* --- pieces of bytes --- */

static int write_plain(struct sort_output *out, size_t n,
                       struct pems_error *error) {
  const int code = whole_write(out->fd, out->buffer, n);
  out->plain.writes++;
  out->plain.bytes_written += n;
  return code ? write_failure(out, code, error) : 0;
}

static int wait_piece(struct sort_output *out, int i,
                      struct pems_error *error) {
  struct pems_request *const r = &out->request[i];
  if (r->n == 0) {
    return 0;
  }
  const int code = disk_file_wait(out->file, r);
  r->n = 0;
  return code ? write_failure(out, code, error) : 0;
}

static int write_file(struct sort_output *out, size_t n,
                      struct pems_error *error) {
  const size_t unit = PEMS_DISK_UNIT;
  struct pems_request *r = &out->request[out->current];
  char *const buf = out->buffer + (size_t)out->current * out->piece;
  const size_t whole = (n + unit - 1) / unit * unit;
  memset(buf + n, 0, whole - n);
  *r = (struct pems_request){
      .block = {0, out->written}, .buf = buf, .n = whole, .write = 1};
  disk_file_start(out->file, &r, 1);
  out->current ^= 1;
  return wait_piece(out, out->current, error);
}

/* The current piece goes, and the other is free then. */
static int next_piece(struct sort_output *out, struct pems_error *error) {
  const size_t n = out->filled;
  const int failed = n == 0      ? 0
                     : out->file ? write_file(out, n, error)
                                 : write_plain(out, n, error);
  out->written += n;
  out->filled = 0;
  return failed;
}

static int put(struct sort_output *out, const char *bytes, size_t n,
               struct pems_error *error) {
  while (n > 0) {
    const size_t room = out->piece - out->filled, part = n < room ? n : room;
    char *const buf = out->buffer + (size_t)out->current * out->piece;
    memcpy(buf + out->filled, bytes, part);
    out->filled += part;
    bytes += part;
    n -= part;
    if (out->filled == out->piece) {
      const int failed = next_piece(out, error);
      if (failed) {
        return failed;
      }
    }
  }
  return 0;
}

/* --- records --- */

int sort_output_put(struct sort_output *out, const void *records, size_t size,
                    size_t n, struct pems_error *error) {
  return put(out, records, n * size, error);
}

int sort_output_commit(struct sort_output *out, struct pems_error *error) {
  int failed = next_piece(out, error);
  if (failed || !out->file) {
    return failed;
  }
  for (int i = 0; i < 2 && !failed; i++) {
    failed = wait_piece(out, i, error);
  }
  return failed ? failed : disk_file_commit(out->file, out->written, error);
}

/* --- opening --- */

static bool is_standard(const char *path) {
  return strcmp(path, SORT_STANDARD) == 0;
}

bool sort_output_plain(const char *path) {
  return is_standard(path) || special_is(path);
}

static int open_plain(struct sort_output *out, const char *path,
                      struct pems_error *error) {
  out->fd = is_standard(path) ? STDOUT_FILENO : special_open(path);
  return out->fd < 0
             ? failure(error, errno, "output file: %s: %s: name another file",
                       path, strerror(errno))
             : 0;
}

static int open_file(struct sort_output *out, const struct sort_command *c,
                     uint64_t bytes, struct pems_error *error) {
  const int failed = disk_file_create(&out->file, c->output, c->sort.scratch.io,
                                      c->sort.scratch.depth, error);
  return failed || !bytes ? failed : disk_file_expect(out->file, bytes, error);
}

int sort_output_open(struct sort_output **out, const struct sort_command *c,
                     size_t piece, uint64_t bytes, struct pems_error *error) {
  struct sort_output *const new = native_zalloc(1, sizeof(*new));
  *out = NULL;
  if (!new) {
    return failure(error, ENOMEM, "memory: to write with: free some");
  }
  new->path = is_standard(c->output) ? "standard output" : c->output;
  new->fd = STDOUT_FILENO;
  new->piece = piece;
  new->buffer = mmap(NULL, 2 * piece, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int failed = 0;
  if (new->buffer == MAP_FAILED) {
    new->buffer = NULL;
    failed = failure(error, ENOMEM,
                     "memory: %zu bytes to write with: free some", 2 * piece);
  } else {
    failed = sort_output_plain(c->output) ? open_plain(new, c->output, error)
                                          : open_file(new, c, bytes, error);
  }
  if (failed) {
    sort_output_close(new);
  } else {
    *out = new;
  }
  return failed;
}

void sort_output_close(struct sort_output *out) {
  if (!out) {
    return;
  }
  wait_piece(out, 0, NULL);
  wait_piece(out, 1, NULL);
  disk_file_close(out->file);
  if (out->fd > STDERR_FILENO) {
    close(out->fd);
  }
  if (out->buffer) {
    munmap(out->buffer, 2 * out->piece);
  }
  native_free(out);
}

void sort_output_counts(const struct sort_output *out,
                        struct pems_disk_counts *counts) {
  if (out->file) {
    disk_file_counts(out->file, counts);
  } else {
    *counts = out->plain;
  }
}
