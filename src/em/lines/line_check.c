#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "em/core/defaults.h"
#include "em/lines/key_encode.h"
#include "em/lines/line_reader.h"
#include "em/lines/line_slots.h"
#include "em/lines/line_sort.h"
#include "os/native.h"

/* A line is a part of the memory. */
enum { LINE_SHARE = 4, PIECE = 256 << 10 };

/* The line before: copies of it and of its string. */
struct before {
  struct line_space line, string;
  size_t line_n, string_n;
};

static int keep(struct before *b, const struct line_reader *r,
                struct pems_error *error) {
  int failed = line_space_reserve(&b->line, r->line_n, error);
  failed = failed ? failed : line_space_reserve(&b->string, r->string_n, error);
  if (failed) {
    return failed;
  }
  memcpy(b->line.at, r->line, r->line_n);
  b->line.at[r->line_n] = 0;
  memcpy(b->string.at, r->string, r->string_n);
  b->line_n = r->line_n;
  b->string_n = r->string_n;
  return 0;
}

/* > 0: the line before belongs behind the current one. */
static int compare(const struct key_order *o, const struct before *b,
                   const struct line_reader *r) {
  const size_t n = b->string_n < r->string_n ? b->string_n : r->string_n;
  int order = memcmp(b->string.at, r->string, n);
  order =
      order ? order : (b->string_n > r->string_n) - (b->string_n < r->string_n);
  if (order) {
    return o->descending ? -order : order;
  }
  unsigned char *const end = (unsigned char *)r->line + r->line_n;
  const unsigned char was = *end;
  *end = 0;
  order = key_compare_ties(o, b->line.at, b->line_n, r->line, r->line_n);
  *end = was;
  return order;
}

static int look(const struct key_order *o, bool headed, struct line_reader *r,
                struct before *before, uint64_t *wrong,
                struct pems_error *error) {
  const int least = o->unique ? 0 : 1;
  for (uint64_t number = 1;; number++) {
    bool there;
    int failed = line_reader_next(r, &there, error);
    if (failed || !there) {
      return failed;
    }
    if (number > 1 && compare(o, before, r) >= least) {
      *wrong = number + (headed ? 1 : 0);
      return 0;
    }
    failed = keep(before, r, error);
    if (failed) {
      return failed;
    }
  }
}

int line_sort_check(const struct line_sort_options *options, uint64_t *wrong,
                    unsigned char **line, size_t *n, struct pems_error *error) {
  const uint64_t given = options->memory ? options->memory : defaults_memory();
  const uint64_t memory = given < LINE_SORT_LEAST ? LINE_SORT_LEAST : given;
  const struct line_source_options from = {
      .path = options->path,
      .paths = options->paths,
      .end = options->order->end,
      .quotes = options->order->quotes,
      .separator = (unsigned char)options->order->separator,
      .header = options->header,
      .io = options->scratch.io,
      .depth = options->scratch.depth,
      .piece = PIECE,
  };
  struct memory budget;
  struct line_source *source;
  struct line_reader reader = {0};
  struct before before = {0};
  *wrong = 0;
  *line = NULL;
  memory_init(&budget, UINT64_MAX);
  int failed = line_source_new(&source, &from, &budget, error);
  if (!failed) {
    line_reader_begin(&reader, options->order, source,
                      (size_t)(memory / LINE_SHARE));
    failed = look(options->order, options->header && options->header->row,
                  &reader, &before, wrong, error);
  }
  if (!failed && *wrong) {
    *n = reader.line_n;
    *line = native_alloc(*n + 1);
    if (*line) {
      memcpy(*line, reader.line, *n);
    }
  }
  native_free(before.line.at);
  native_free(before.string.at);
  line_reader_free(&reader);
  memory_destroy(&budget);
  return failed;
}
