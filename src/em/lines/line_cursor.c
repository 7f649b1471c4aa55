#include "em/lines/line_cursor.h"

#include <string.h>

#include "os/native.h"

/* --- runs --- */

static int next_of_run(struct line_cursor *c, bool *there,
                       struct pems_error *error) {
  struct line_run_in *const in = &c->of.run;
  const int failed = line_run_next(in, there, error);
  c->view = (struct line_view){in->string, in->line, in->string_n, in->line_n};
  c->common = in->common;
  return failed;
}

static void free_run(struct line_cursor *c) {
  line_run_in_free(&c->of.run);
}

int line_cursor_of_run(struct line_cursor *c, struct line_run *run,
                       size_t piece, struct memory *memory,
                       struct pems_error *error) {
  *c = (struct line_cursor){.next = next_of_run, .free = free_run};
  return line_run_open(&c->of.run, run, piece, memory, error);
}

/* --- chunks --- */

static int next_of_chunk(struct line_cursor *c, bool *there,
                         struct pems_error *error) {
  const struct line_view before = c->view;
  (void)error;
  *there = c->of.chunk.left > 0;
  if (!*there) {
    return 0;
  }
  if (c->of.chunk.left > 16) {
    line_chunk_prefetch(c->of.chunk.chunk, c->of.chunk.slot + 16);
  }
  line_chunk_view(c->of.chunk.chunk, c->of.chunk.slot, &c->view);
  c->common = before.string
                  ? line_slots_common(before.string, before.string_n,
                                      c->view.string, c->view.string_n, 0)
                  : 0;
  c->of.chunk.slot++;
  c->of.chunk.left--;
  return 0;
}

static void free_chunk(struct line_cursor *c) {
  (void)c;
}

void line_cursor_of_chunk(struct line_cursor *c, const struct line_chunk *chunk,
                          const line_slot *slot, size_t n) {
  *c = (struct line_cursor){.next = next_of_chunk, .free = free_chunk};
  c->of.chunk.chunk = chunk;
  c->of.chunk.slot = slot;
  c->of.chunk.left = n;
}

/* --- files --- */

static int next_of_file(struct line_cursor *c, bool *there,
                        struct pems_error *error) {
  struct line_reader *const r = &c->of.file.reader;
  struct line_space *const before = &c->of.file.before;
  const size_t n = r->string_n;
  int failed = line_space_reserve(before, n, error);
  if (failed) {
    return failed;
  }
  if (n) {
    memcpy(before->at, r->string, n);
  }
  failed = line_reader_next(r, there, error);
  if (failed || !*there) {
    return failed;
  }
  c->view = (struct line_view){r->string, r->line, r->string_n, r->line_n};
  c->common = line_slots_common(before->at, n, r->string, r->string_n, 0);
  return 0;
}

static void free_file(struct line_cursor *c) {
  native_free(c->of.file.before.at);
  line_reader_free(&c->of.file.reader);
}

void line_cursor_of_file(struct line_cursor *c, const struct key_order *o,
                         struct line_source *source, size_t limit) {
  *c = (struct line_cursor){.next = next_of_file, .free = free_file};
  line_reader_begin(&c->of.file.reader, o, source, limit);
}
