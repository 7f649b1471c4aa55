#define _GNU_SOURCE
#include "wrappers/sort/pems_sort_input.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/failure.h"
#include "disk/file.h"
#include "os/native.h"

struct sort_input {
  const char *path;
  struct disk_file *file; /* NULL: standard input */
  size_t piece;
  char *buffer;                   /* two pieces */
  struct pems_request request[2]; /* of the file, one for each */
  int current;                    /* piece that `at` is in */
  uint64_t asked, size;           /* bytes of the file */
  struct pems_disk_counts standard;
  const char *at; /* bytes not used yet */
  size_t left;
  int ended;
  uint64_t used; /* bytes before `at`, for messages */
  char *part;    /* the beginning of a record that ends in a later piece */
  size_t part_n;
};

/* --- pieces of bytes --- */

static void ask(struct sort_input *in, int i) {
  const uint64_t left = in->size - in->asked, unit = PEMS_DISK_UNIT;
  const uint64_t whole = (left + unit - 1) / unit * unit;
  struct pems_request *r = &in->request[i];
  *r = (struct pems_request){
      .block = {0, in->asked},
      .buf = in->buffer + (size_t)i * in->piece,
      .n = whole < in->piece ? (size_t)whole : in->piece,
  };
  in->asked += left < r->n ? left : r->n;
  if (r->n) {
    disk_file_start(in->file, &r, 1);
  }
}

static int read_failure(const struct sort_input *in, int code,
                        struct pems_error *error) {
  return failure(error, code, "%s: reading: %s: check the disk", in->path,
                 strerror(code));
}

static int next_of_file(struct sort_input *in, struct pems_error *error) {
  struct pems_request *const r = &in->request[in->current];
  if (r->n == 0) {
    in->ended = 1;
    return 0;
  }
  const int code = disk_file_wait(in->file, r);
  const uint64_t behind = in->size - r->block.at;
  in->at = r->buf;
  in->left = behind < r->n ? (size_t)behind : r->n;
  r->n = 0;
  return code ? read_failure(in, code, error) : 0;
}

static int next_of_standard(struct sort_input *in, struct pems_error *error) {
  ssize_t n;
  do {
    n = read(STDIN_FILENO, in->buffer, in->piece);
  } while (n < 0 && errno == EINTR);
  if (n < 0) {
    return read_failure(in, errno, error);
  }
  in->at = in->buffer;
  in->left = (size_t)n;
  in->ended = n == 0;
  in->standard.reads++;
  in->standard.bytes_read += (size_t)n;
  return 0;
}

/* Once all of a piece is used: the next. */
static int next_piece(struct sort_input *in, struct pems_error *error) {
  if (!in->file) {
    return next_of_standard(in, error);
  }
  if (in->at) {
    ask(in, in->current);
    in->current ^= 1;
  }
  return next_of_file(in, error);
}

static void take(struct sort_input *in, size_t n) {
  in->at += n;
  in->left -= n;
}

/* --- records --- */

int sort_input_fill(struct sort_input *in, size_t size, void *to, size_t room,
                    size_t *n, struct pems_error *error) {
  char *const space = to;
  size_t filled = in->part_n;
  *n = 0;
  memcpy(space, in->part, filled);
  while (filled < size && !in->ended) {
    const size_t wanted = room * size - filled;
    const size_t part = in->left < wanted ? in->left : wanted;
    if (part == 0) {
      const int failed = next_piece(in, error);
      if (failed) {
        return failed;
      }
      continue;
    }
    memcpy(space + filled, in->at, part);
    take(in, part);
    filled += part;
  }
  *n = filled / size;
  in->part_n = filled % size;
  memcpy(in->part, space + *n * size, in->part_n);
  in->used += filled - in->part_n;
  if (in->ended && in->part_n) {
    return failure(error, EINVAL,
                   "%s: %llu bytes: no multiple of the record of %zu bytes",
                   in->path, (unsigned long long)(in->used + in->part_n), size);
  }
  return 0;
}

/* --- opening --- */

static int take_memory(struct sort_input *in, size_t piece) {
  char *const buffer = mmap(NULL, 2 * piece, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  in->piece = piece;
  in->buffer = buffer == MAP_FAILED ? NULL : buffer;
  in->part = native_alloc(PEMS_RECORD_MOST);
  return in->buffer && in->part ? 0 : ENOMEM;
}

static int open_file(struct sort_input *in, const struct sort_command *c,
                     struct pems_error *error) {
  const int failed = disk_file_open(&in->file, c->input, c->sort.scratch.io,
                                    c->sort.scratch.depth, error);
  if (failed) {
    return failed;
  }
  in->size = disk_file_size(in->file);
  ask(in, 0);
  ask(in, 1);
  return 0;
}

int sort_input_open(struct sort_input **in, const struct sort_command *c,
                    size_t piece, struct pems_error *error) {
  struct sort_input *const new = native_zalloc(1, sizeof(*new));
  const bool standard = strcmp(c->input, SORT_STANDARD) == 0;
  *in = NULL;
  int failed = new ? take_memory(new, piece) : ENOMEM;
  if (failed) {
    failure(error, failed, "memory: %zu bytes to read with: free some",
            2 * piece);
  } else {
    new->path = standard ? "standard input" : c->input;
    failed = standard ? 0 : open_file(new, c, error);
  }
  if (failed) {
    sort_input_close(new);
  } else {
    *in = new;
  }
  return failed;
}

void sort_input_close(struct sort_input *in) {
  if (!in) {
    return;
  }
  for (int i = 0; in->file && i < 2; i++) {
    if (in->request[i].n) {
      disk_file_wait(in->file, &in->request[i]);
    }
  }
  disk_file_close(in->file);
  if (in->buffer) {
    munmap(in->buffer, 2 * in->piece);
  }
  native_free(in->part);
  native_free(in);
}

uint64_t sort_input_size(const struct sort_input *in) {
  return in->size;
}

void sort_input_counts(const struct sort_input *in,
                       struct pems_disk_counts *counts) {
  if (in->file) {
    disk_file_counts(in->file, counts);
  } else {
    *counts = in->standard;
  }
}
