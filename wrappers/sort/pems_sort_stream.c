#include "wrappers/sort/pems_sort_stream.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "os/native.h"
#include "wrappers/sort/pems_sort_input.h"
#include "wrappers/sort/pems_sort_output.h"

/* Of the two pieces that are read or written: what is best, and the least. */
#define MOST_PIECE ((uint64_t)4 << 20)
#define LEAST_PIECE ((uint64_t)64 << 10)
#define PIECE_SHARE 64
/* Records that are checked at a time, in bytes. */
#define CHECKED ((size_t)256 << 10)

struct stream {
  const struct sort_command *c;
  struct sort_input *in;
  struct sort_output *out;
  struct pems_sorter *sorter;
  struct pems_sort_check *before, *after; /* or NULL */
  char last[PEMS_RECORD_MOST];
};

static size_t piece_of(uint64_t budget) {
  const uint64_t share = budget / PIECE_SHARE / PEMS_DISK_UNIT * PEMS_DISK_UNIT;
  return (size_t)(budget == 0 || share > MOST_PIECE ? MOST_PIECE
                  : share < LEAST_PIECE             ? LEAST_PIECE
                                                    : share);
}

uint64_t sort_stream_memory(uint64_t budget) {
  return 2 * piece_of(budget);
}

/* --- sorting --- */

static int push_all(struct stream *s, struct pems_error *error) {
  const struct pems_record *const r = &s->c->sort.record;
  for (;;) {
    void *space;
    size_t room, n;
    int failed = pems_sorter_space(s->sorter, &space, &room, error);
    if (!failed) {
      failed = sort_input_fill(s->in, r->size, space, room, &n, error);
    }
    if (failed || n == 0) {
      return failed;
    }
    if (s->before) {
      pems_sort_check_piece(s->before, r, space, n, s->last);
    }
    failed = pems_sorter_filled(s->sorter, n, error);
    if (failed) {
      return failed;
    }
  }
}

static int pull_all(struct stream *s, struct pems_error *error) {
  const struct pems_record *const r = &s->c->sort.record;
  for (;;) {
    const void *records;
    size_t n;
    int failed = pems_sorter_pull(s->sorter, &records, &n, error);
    if (failed || n == 0) {
      return failed;
    }
    if (s->after) {
      pems_sort_check_piece(s->after, r, records, n, s->last);
    }
    failed = sort_output_put(s->out, records, r->size, n, error);
    if (failed) {
      return failed;
    }
  }
}

static void add(struct pems_disk_counts *to,
                const struct pems_disk_counts *counts) {
  to->reads += counts->reads;
  to->writes += counts->writes;
  to->merged += counts->merged;
  to->bytes_read += counts->bytes_read;
  to->bytes_written += counts->bytes_written;
  to->read_wait_ns += counts->read_wait_ns;
  to->write_wait_ns += counts->write_wait_ns;
}

static int sort_all(struct stream *s, struct pems_disk_counts *input,
                    struct pems_error *error) {
  int failed = push_all(s, error);
  sort_input_counts(s->in, input);
  sort_input_close(s->in);
  s->in = NULL;
  if (!failed) {
    failed = pems_sorter_finish(s->sorter, error);
  }
  if (!failed) {
    failed = pull_all(s, error);
  }
  return failed ? failed : sort_output_commit(s->out, error);
}

static int open_all(struct stream *s, struct pems_error *error) {
  const struct sort_command *const c = s->c;
  const size_t piece = piece_of(c->sort.memory);
  struct pems_sort_options o = c->sort;
  if (o.memory) {
    o.memory -= sort_stream_memory(c->sort.memory);
  }
  int failed = sort_input_open(&s->in, c, piece, error);
  if (!failed) {
    failed = sort_output_open(&s->out, c, piece, sort_input_size(s->in), error);
  }
  return failed ? failed : pems_sorter_new(&s->sorter, &o, error);
}

int sort_stream(const struct sort_command *c, struct pems_sort_counts *counts,
                struct pems_sort_check *before, struct pems_sort_check *after,
                struct pems_error *error) {
  struct stream *const s = native_zalloc(1, sizeof(*s));
  struct pems_disk_counts input, output;
  if (!s) {
    return failure(error, ENOMEM, "memory: for sorting: free some");
  }
  s->c = c;
  s->before = before;
  s->after = after;
  int failed = open_all(s, error);
  if (!failed) {
    failed = sort_all(s, &input, error);
  }
  if (!failed) {
    sort_output_counts(s->out, &output);
    pems_sorter_counts(s->sorter, counts);
    add(&counts->form.io, &input);
    add(&counts->merge.io, &output);
    counts->memory += sort_stream_memory(c->sort.memory);
  }
  pems_sorter_free(s->sorter);
  sort_output_close(s->out);
  sort_input_close(s->in);
  native_free(s);
  return failed;
}

/* --- checking --- */

static int check_all(const struct sort_command *c, struct sort_input *in,
                     char *space, struct pems_sort_check *check,
                     struct pems_error *error) {
  const struct pems_record *const r = &c->sort.record;
  char last[PEMS_RECORD_MOST];
  for (;;) {
    size_t n;
    const int failed =
        sort_input_fill(in, r->size, space, CHECKED / r->size, &n, error);
    if (failed || n == 0) {
      return failed;
    }
    pems_sort_check_piece(check, r, space, n, last);
  }
}

int sort_stream_check(const struct sort_command *c,
                      struct pems_sort_check *check, struct pems_error *error) {
  struct sort_input *in = NULL;
  char *const space = native_alloc(CHECKED);
  *check = (struct pems_sort_check){.sorted = 1};
  int failed = space ? sort_input_open(&in, c, piece_of(c->sort.memory), error)
                     : failure(error, ENOMEM, "memory: to check: free some");
  if (!failed) {
    failed = check_all(c, in, space, check, error);
  }
  sort_input_close(in);
  native_free(space);
  return failed;
}
