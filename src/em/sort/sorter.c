/* Push all, then pull. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/counters.h"
#include "base/failure.h"
#include "base/forked.h"
#include "em/kernel/record.h"
#include "em/sort/merge_pass.h"
#include "em/sort/merger.h"
#include "em/sort/progress.h"
#include "em/sort/run_builder.h"
#include "em/sort/sort.h"
#include "os/native.h"

/* Space is given out, and pulled, in pieces of about this many bytes. */
#define PIECE ((size_t)1 << 20)

enum stage { PUSHING, PUSHED, PULLING, ENDED };

struct pems_sorter {
  struct sort s;
  unsigned born; /* forked_now, then */
  enum stage stage;
  int failed; /* the first error, in `error` */
  struct pems_error error;
  struct run_builder *builder;
  struct run_builder_buffer *buffer; /* being filled, or NULL */
  size_t filled;                     /* records in it */
  struct merger *merger;
  size_t kept, kept_out; /* records in memory, and of them pulled */
  char *out;             /* merged records */
  size_t out_bytes;
  const char *batch; /* pulled last */
  size_t batch_n;    /* records */
  size_t batch_used; /* of them not given back */
};

static size_t size_of(const struct pems_sorter *p) {
  return p->s.o.record.size;
}

/* Keeps the first error: all later calls tell it again. */
static int fail(struct pems_sorter *p, const struct pems_error *error,
                struct pems_error *out) {
  if (!p->failed) {
    p->error = *error;
    p->failed = error->code;
  }
  if (out) {
    *out = p->error;
  }
  return p->failed;
}

/* 0 if the sorter is good for a call. */
static int usable(struct pems_sorter *p, struct pems_error *error) {
  if (forked_since(p->born)) {
    return forked_refuse("sorter", error);
  }
  return p->failed ? fail(p, &p->error, error) : 0;
}

static int misused(struct pems_sorter *p, const char *what,
                   struct pems_error *error) {
  struct pems_error e;
  failure(&e, EINVAL, "sorter: %s: push, finish, then pull", what);
  return fail(p, &e, error);
}

int pems_sorter_new(struct pems_sorter **sorter,
                    const struct pems_sort_options *options,
                    struct pems_error *error) {
  struct pems_sort_options o;
  *sorter = NULL;
  int failed = sort_options(&o, options, error);
  if (failed) {
    return failed;
  }
  struct pems_sorter *const p = native_zalloc(1, sizeof(*p));
  if (!p) {
    return failure(error, ENOMEM, "memory: a sorter: free some");
  }
  o.count = sort_room(&o);
  failed = sort_begin(&p->s, &o, error);
  if (failed) {
    native_free(p);
    return failed;
  }
  sort_phase_begin(&p->s, p->s.o.memory);
  failed = run_builder_new(&p->builder, &p->s, error);
  if (failed) {
    sort_end(&p->s);
    native_free(p);
    return failed;
  }
  p->s.o.count = options->count;
  p->born = forked_now();
  *sorter = p;
  return 0;
}

static void free_pull(struct pems_sorter *p) {
  merger_free(p->merger);
  p->merger = NULL;
  memory_put(&p->s.memory, p->out, p->out_bytes);
  p->out = NULL;
}

static void free_former(struct pems_sorter *p) {
  if (p->builder) {
    p->s.counts.form.cpu_seconds +=
        (double)run_builder_cpu_ns(p->builder) / 1e9;
  }
  run_builder_free(p->builder);
  p->builder = NULL;
}

void pems_sorter_free(struct pems_sorter *sorter) {
  /* A child cannot wait for what threads of its parent do. */
  if (!sorter || forked_since(sorter->born)) {
    return;
  }
  free_pull(sorter);
  free_former(sorter);
  sort_end(&sorter->s);
  native_free(sorter);
}

/* --- pushing --- */

static int give(struct pems_sorter *p, struct pems_error *error) {
  struct run_builder_buffer *const buffer = p->buffer;
  const size_t n = p->filled;
  p->buffer = NULL;
  p->filled = 0;
  return run_builder_give(p->builder, buffer, buffer->base, n, error);
}

int pems_sorter_space(struct pems_sorter *sorter, void **space, size_t *n,
                      struct pems_error *error) {
  struct pems_sorter *const p = sorter;
  const size_t size = size_of(p);
  struct pems_error e;
  *n = 0;
  const int refused = usable(p, error);
  if (refused) {
    return refused;
  }
  if (p->stage != PUSHING) {
    return misused(p, "a record after the end", error);
  }
  /* One buffer was to be enough, and is not: it must be written first. */
  if (!p->buffer && p->s.plan.run_buffers == 1 && p->s.counts.records > 0) {
    run_builder_more(p->builder);
  }
  if (!p->buffer && run_builder_take(p->builder, &p->buffer, &e)) {
    return fail(p, &e, error);
  }
  size_t room = p->buffer->records - p->filled;
  room = room < PIECE / size + 1 ? room : PIECE / size + 1;
  if (run_builder_ready(p->builder, p->buffer, (p->filled + room) * size, &e)) {
    return fail(p, &e, error);
  }
  *space = p->buffer->base + p->filled * size;
  *n = room;
  return 0;
}

int pems_sorter_filled(struct pems_sorter *sorter, size_t n,
                       struct pems_error *error) {
  struct pems_sorter *const p = sorter;
  struct pems_error e;
  const int refused = usable(p, error);
  if (refused) {
    return refused;
  }
  if (p->stage != PUSHING || !p->buffer || n > p->buffer->records - p->filled) {
    return misused(p, "more records than there was space", error);
  }
  if (n && p->s.counts.records == p->s.plan.per_run) {
    run_builder_more(p->builder);
  }
  p->filled += n;
  p->s.counts.records += n;
  if (progress_add(&p->s, n, &e)) {
    return fail(p, &e, error);
  }
  if (p->filled == p->buffer->records && give(p, &e)) {
    return fail(p, &e, error);
  }
  return 0;
}

int pems_sorter_push(struct pems_sorter *sorter, const void *records, size_t n,
                     struct pems_error *error) {
  const char *from = records;
  const size_t size = size_of(sorter);
  int failed = 0;
  while (n > 0 && !failed) {
    void *space;
    size_t room;
    failed = pems_sorter_space(sorter, &space, &room, error);
    if (failed) {
      break;
    }
    room = room < n ? room : n;
    memcpy(space, from, room * size);
    failed = pems_sorter_filled(sorter, room, error);
    from += room * size;
    n -= room;
  }
  return failed;
}

int pems_sorter_finish(struct pems_sorter *sorter, struct pems_error *error) {
  struct pems_sorter *const p = sorter;
  struct pems_error e;
  const int refused = usable(p, error);
  if (refused) {
    return refused;
  }
  if (p->stage != PUSHING) {
    return misused(p, "finished twice", error);
  }
  const bool keep = run_builder_kept_bytes(p->builder) + 2 * p->s.plan.block <=
                    p->s.o.merge_memory;
  if (p->filled && give(p, &e)) {
    return fail(p, &e, error);
  }
  if (run_builder_finish(p->builder, keep, &e)) {
    return fail(p, &e, error);
  }
  p->stage = PUSHED;
  p->s.o.count = p->s.counts.records; /* what progress is told of from now on */
  p->kept = run_builder_kept(p->builder);
  p->s.counts.runs = p->s.runs.count + (p->kept > 0);
  if (!p->kept) {
    free_former(p);
  }
  sort_phase_end(&p->s, &p->s.counts.form);
  memory_limit(&p->s.memory, p->s.o.merge_memory);
  return 0;
}

/* --- pulling --- */

static int take_out(struct pems_sorter *p, size_t bytes,
                    struct pems_error *error) {
  p->out_bytes = bytes < size_of(p) ? size_of(p) : bytes;
  p->out = memory_get(&p->s.memory, p->out_bytes);
  return p->out ? 0
                : failure(error, ENOMEM,
                          "memory: %zu bytes for sorted records: give more",
                          p->out_bytes);
}

static int begin_pull(struct pems_sorter *p, struct pems_error *error) {
  struct sort_merge_plan plan;
  int failed = sort_team(&p->s, p->s.o.merge_threads, error);
  if (failed) {
    return failed;
  }
  sort_phase_begin(&p->s, p->s.o.merge_memory);
  p->stage = PULLING;
  if (p->kept) {
    return p->s.kernel->emit ? take_out(p, p->s.plan.block, error) : 0;
  }
  if (p->s.runs.count == 0) {
    return 0;
  }
  failed = merge_pass_reduce(&p->s, &plan, error);
  if (!failed) {
    failed = merger_new(&p->merger, &p->s, &plan, 0, p->s.runs.count, 1, error);
  }
  if (!failed) {
    failed = take_out(p, (size_t)plan.write_buffers * p->s.plan.block, error);
  }
  return failed;
}

static void end_pull(struct pems_sorter *p) {
  memory_keep(&p->s.memory, false);
  free_pull(p);
  free_former(p);
  sort_phase_end(&p->s, &p->s.counts.merge);
  p->stage = ENDED;
}

/* The next records of those in memory. */
static void pull_kept(struct pems_sorter *p) {
  const size_t left = p->kept - p->kept_out;
  const size_t most = p->out ? p->out_bytes / size_of(p) : left;
  p->batch_n = left < most ? left : most;
  if (p->batch_n) {
    p->batch =
        run_builder_kept_records(p->builder, p->kept_out, p->batch_n, p->out);
  }
  p->kept_out += p->batch_n;
}

static int next_batch(struct pems_sorter *p, struct pems_error *error) {
  int failed = 0;
  p->batch_n = p->batch_used = 0;
  if (p->stage == PUSHED) {
    failed = begin_pull(p, error);
  }
  if (failed) {
    return failed;
  }
  p->batch = p->out;
  if (p->kept) {
    pull_kept(p);
  } else if (p->merger) {
    failed = merger_fill(p->merger, p->out, p->out_bytes / size_of(p),
                         &p->batch_n, error);
  }
  if (!failed) {
    failed = progress_add(&p->s, p->batch_n, error);
  }
  if (!failed && p->batch_n == 0) {
    end_pull(p);
  }
  return failed;
}

int pems_sorter_pull(struct pems_sorter *sorter, const void **records,
                     size_t *n, struct pems_error *error) {
  struct pems_sorter *const p = sorter;
  struct pems_error e;
  *n = 0;
  *records = NULL;
  const int refused = usable(p, error);
  if (refused) {
    return refused;
  }
  if (p->stage == PUSHING) {
    return misused(p, "pulled before the end", error);
  }
  if (p->stage == ENDED) {
    return 0;
  }
  if (p->batch_used == p->batch_n && next_batch(p, &e)) {
    return fail(p, &e, error);
  }
  *records = p->batch + p->batch_used * size_of(p);
  *n = p->batch_n - p->batch_used;
  p->batch_used = p->batch_n;
  return 0;
}

/* n records beside each other, to places that are `stride` bytes apart. */
static void lay_out(char *to, ptrdiff_t stride, const char *from, size_t n,
                    size_t size) {
  if (stride == (ptrdiff_t)size) {
    memcpy(to, from, n * size);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    record_copy(to + (ptrdiff_t)i * stride, from + i * size, size);
  }
}

int pems_sorter_pull_into(struct pems_sorter *sorter, void *to,
                          ptrdiff_t stride, size_t *n,
                          struct pems_error *error) {
  struct pems_sorter *const p = sorter;
  const size_t most = *n;
  const void *records;
  size_t some = 1;
  int failed = 0;
  *n = 0;
  while (*n < most && !failed && some) {
    failed = pems_sorter_pull(p, &records, &some, error);
    if (failed || !some) {
      break;
    }
    /* From here on the caller's records are not whole before the end. */
    p->s.o.stop = NULL;
    const size_t left = most - *n;
    if (some > left) {
      pems_sorter_back(p, some - left);
      some = left;
    }
    lay_out((char *)to + (ptrdiff_t)*n * stride, stride, records, some,
            size_of(p));
    *n += some;
  }
  return failed;
}

void pems_sorter_back(struct pems_sorter *sorter, size_t n) {
  sorter->batch_used -= n < sorter->batch_used ? n : sorter->batch_used;
}

const void *pems_sorter_next(struct pems_sorter *sorter,
                             struct pems_error *error) {
  const void *record;
  size_t n;
  if (pems_sorter_pull(sorter, &record, &n, error) || n == 0) {
    return NULL;
  }
  pems_sorter_back(sorter, n - 1);
  return record;
}

void pems_sorter_counts(const struct pems_sorter *sorter,
                        struct pems_sort_counts *counts) {
  *counts = sorter->s.counts;
  counts->memory = memory_most((struct memory *)&sorter->s.memory);
}
