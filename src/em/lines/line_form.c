#include "em/lines/line_form.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "os/clock.h"
#include "os/native.h"
#include "os/thread.h"

/* Bytes of text that are worth a thread. */
#define LEAST_TARGET ((uint64_t)256 << 10)
/* Strings have that part of the first chunks, if they are no lines. */
#define FIRST_SHARE 0.4
/* Order of runs: of one chunk, and of parts of it. */
enum { PART_BITS = 20 };

struct worker {
  struct line_form *f;
  pthread_t thread;
  bool started;
  struct line_chunk chunk;
  uint64_t order;
};

struct line_form {
  const struct line_sort_options *o;
  const struct line_plan *plan;
  struct line_runs *runs;
  struct memory *memory;
  int workers;
  struct worker *worker;
  struct line_kept *kept;

  struct lock lock; /* of all that follows */
  struct line_source *source;
  struct line_carry carry;
  size_t target; /* bytes of text of a chunk */
  double share;  /* of a chunk's memory, for strings */
  uint64_t chunks, done, size;
  bool spilled; /* something is on the disks, or will be */
  size_t n_kept;
  int failed; /* of the first thread to fail, which filled in: */
  struct pems_error *error;
  int sorting; /* threads that compute */
  pthread_cond_t may_sort;
};

static void fail_locked(struct line_form *f, int code,
                        const struct pems_error *error) {
  if (!f->failed) {
    f->failed = code;
    if (f->error) {
      *f->error = *error;
    }
  }
}

static void fail(struct line_form *f, int code,
                 const struct pems_error *error) {
  lock_take(&f->lock);
  fail_locked(f, code, error);
  lock_give(&f->lock);
}

/* --- one chunk after the other --- */

/* As many as may compute do; the others wait, and the disk meanwhile. */
static void begin_sorting(struct line_form *f) {
  lock_take(&f->lock);
  while (f->sorting >= f->o->threads) {
    lock_wait(&f->may_sort, &f->lock);
  }
  f->sorting++;
  lock_give(&f->lock);
}

static void end_sorting(struct line_form *f) {
  lock_take(&f->lock);
  f->sorting--;
  pthread_cond_signal(&f->may_sort);
  lock_give(&f->lock);
}

/* Whether there was something to take. */
static bool take_chunk_locked(struct worker *w) {
  struct line_form *const f = w->f;
  struct pems_error error;
  if (f->failed || line_source_ended(f->source)) {
    return false;
  }
  const int failed = line_chunk_fill(&w->chunk, f->source, &f->carry, f->target,
                                     f->share, &error);
  if (failed) {
    fail_locked(f, failed, &error);
    return false;
  }
  w->order = f->chunks++ << PART_BITS;
  f->done += w->chunk.text;
  if (f->o->progress) {
    f->o->progress(f->o->progress_arg, f->done, 2 * f->size);
  }
  return w->chunk.low != w->chunk.top;
}

static bool take_chunk(struct worker *w) {
  lock_take(&w->f->lock);
  const bool taken = take_chunk_locked(w);
  lock_give(&w->f->lock);
  return taken;
}

/* Keeps the sorted chunk, if it is all that is left and nothing was written
   before: then no other one will be. */
static bool keep(struct worker *w, const line_slot *slot, size_t n) {
  struct line_form *const f = w->f;
  lock_take(&f->lock);
  const bool kept = !f->spilled && w->chunk.todo == w->chunk.low &&
                    line_source_ended(f->source);
  if (kept) {
    f->kept[f->n_kept++] = (struct line_kept){w->order, &w->chunk, slot, n};
  } else {
    f->spilled = true;
    f->share = line_chunk_share(&w->chunk);
  }
  lock_give(&f->lock);
  return kept;
}

static int put_slots(const struct line_chunk *c, struct line_run_out *out,
                     const line_slot *slot, size_t n,
                     struct pems_error *error) {
  struct line_view before = {0}, v;
  for (size_t i = 0; i < n; i++) {
    if (i + 16 < n) {
      line_chunk_prefetch(c, &slot[i + 16]);
    }
    line_chunk_view(c, &slot[i], &v);
    const size_t common = line_slots_common(before.string, before.string_n,
                                            v.string, v.string_n, 0);
    if (c->o->unique && i > 0 && common == v.string_n &&
        common == before.string_n) {
      continue;
    }
    const int failed = line_run_put(out, v.string, v.string_n, common, v.line,
                                    v.line_n, error);
    if (failed) {
      return failed;
    }
    before = v;
  }
  return 0;
}

static int write_run(struct worker *w, const line_slot *slot, size_t n,
                     struct pems_error *error) {
  struct line_runs *const runs = w->f->runs;
  const uint64_t begin = clock_ns();
  struct line_run_out out;
  struct line_run *run;
  int failed = line_runs_begin(runs, w->order++, &run, &out, error);
  if (failed) {
    return failed;
  }
  failed = put_slots(&w->chunk, &out, slot, n, error);
  if (failed) {
    line_runs_drop(run, &out);
    return failed;
  }
  return line_runs_add(runs, run, &out, clock_ns() - begin, error);
}

/* Sorts what was filled in and writes it, in several runs if strings have too
   little room; true if it stays in memory. */
static int sort_chunk(struct worker *w, bool *kept, struct pems_error *error) {
  struct line_chunk *const c = &w->chunk;
  line_slot *slot;
  size_t n;
  int failed = 0;
  *kept = false;
  while (c->todo > c->low && !failed && !*kept) {
    failed = line_chunk_sort(c, &slot, &n, error);
    *kept = !failed && keep(w, slot, n);
    if (!failed && !*kept) {
      failed = write_run(w, slot, n, error);
    }
  }
  return failed;
}

static void *work(void *arg) {
  struct worker *const w = arg;
  struct pems_error error;
  bool kept = false;
  while (!kept && take_chunk(w)) {
    begin_sorting(w->f);
    const int failed = sort_chunk(w, &kept, &error);
    end_sorting(w->f);
    if (failed) {
      fail(w->f, failed, &error);
      break;
    }
  }
  if (!kept) {
    line_chunk_free(&w->chunk); /* merging needs its memory */
  }
  return NULL;
}

/* --- all of them --- */

static int open_source(struct line_form *f, struct pems_error *error) {
  const struct line_source_options options = {
      .path = f->o->path,
      .paths = f->o->paths,
      .end = f->o->order->end,
      .quotes = f->o->order->quotes,
      .separator = (unsigned char)f->o->order->separator,
      .header = f->o->header,
      .io = f->o->scratch.io,
      .depth = f->o->scratch.depth,
      .piece = f->plan->input,
  };
  const int failed = line_source_new(&f->source, &options, f->memory, error);
  if (failed) {
    return failed;
  }
  f->size = line_source_size(f->source);
  f->target = f->plan->chunk;
  /* What fits into memory is shared out, so that all threads have some. */
  if (f->size && f->size < (uint64_t)f->plan->workers * f->plan->chunk / 2) {
    const uint64_t part = f->size / (uint64_t)f->o->threads + 1;
    f->target = part < LEAST_TARGET ? LEAST_TARGET : (size_t)part;
  }
  return 0;
}

static int set_up(struct line_form *f, struct pems_error *error) {
  f->worker = native_zalloc((size_t)f->workers, sizeof(*f->worker));
  f->kept = native_zalloc((size_t)f->workers, sizeof(*f->kept));
  f->carry.room = f->plan->carry;
  f->carry.text = memory_get(f->memory, f->carry.room);
  if (!f->worker || !f->kept || !f->carry.text) {
    return failure(error, ENOMEM, "memory for sorting: too little: give more");
  }
  int failed = open_source(f, error);
  for (int i = 0; i < f->workers && !failed; i++) {
    f->worker[i].f = f;
    failed = line_chunk_new(&f->worker[i].chunk, f->o->order, f->plan->chunk,
                            f->memory, error);
  }
  return failed;
}

static int compare_kept(const void *a, const void *b) {
  const struct line_kept *const x = a, *const y = b;
  return (x->order > y->order) - (x->order < y->order);
}

/* The calling thread is one of them. */
static void run_workers(struct line_form *f) {
  for (int i = 1; i < f->workers; i++) {
    struct worker *const w = &f->worker[i];
    w->started = thread_start(&w->thread, work, w, NULL) == 0;
  }
  work(&f->worker[0]);
  for (int i = 1; i < f->workers; i++) {
    if (f->worker[i].started) {
      pthread_join(f->worker[i].thread, NULL);
    } else {
      line_chunk_free(&f->worker[i].chunk);
    }
  }
  qsort(f->kept, f->n_kept, sizeof(*f->kept), compare_kept);
}

int line_form(struct line_form **form, const struct line_sort_options *o,
              const struct line_plan *plan, struct line_runs *runs,
              struct memory *memory, struct pems_error *error) {
  struct line_form *const f = native_zalloc(1, sizeof(*f));
  *form = f;
  if (!f) {
    return failure(error, ENOMEM, "memory: to sort: free some");
  }
  f->o = o;
  f->plan = plan;
  f->runs = runs;
  f->memory = memory;
  f->workers = plan->workers;
  f->share = FIRST_SHARE;
  f->error = error;
  lock_init(&f->lock, LOCK_LINE_FORM);
  pthread_cond_init(&f->may_sort, NULL);
  const int failed = set_up(f, error);
  if (failed) {
    return failed;
  }
  run_workers(f);
  line_source_free(f->source);
  f->source = NULL;
  memory_put(memory, f->carry.text, f->carry.room);
  f->carry.text = NULL;
  return f->failed;
}

const struct line_kept *line_form_kept(const struct line_form *f, size_t *n) {
  *n = f->n_kept;
  return f->kept;
}

uint64_t line_form_bytes(const struct line_form *f) {
  return f->done;
}

void line_form_free(struct line_form *f) {
  if (!f) {
    return;
  }
  for (int i = 0; f->worker && i < f->workers; i++) {
    line_chunk_free(&f->worker[i].chunk);
  }
  line_source_free(f->source);
  if (f->carry.text) {
    memory_put(f->memory, f->carry.text, f->carry.room);
  }
  native_free(f->worker);
  native_free(f->kept);
  pthread_cond_destroy(&f->may_sort);
  lock_destroy(&f->lock);
  native_free(f);
}
