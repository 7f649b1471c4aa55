#include "em/lines/line_runs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/failure.h"
#include "em/lines/line_parallel.h"
#include "em/lines/line_plan.h"
#include "os/clock.h"
#include "os/native.h"

/* Compression pays where a thread waits for that part of the time, and the disk
   takes fewer bytes in a second than it compresses; zstd below the second. */
#define WAIT_SHARE 0.3
#define LZ4_RATE 500e6
#define ZSTD_RATE 75e6
/* Runs that do not become smaller than that are not worth it. */
#define PACKED_SHARE 0.9

static enum line_codec first_codec(const struct line_sort_options *o) {
  return o->packing == LINE_PACKING_LZ4    ? LINE_CODEC_LZ4
         : o->packing == LINE_PACKING_ZSTD ? LINE_CODEC_ZSTD
                                           : LINE_CODEC_NONE;
}

void line_runs_init(struct line_runs *r, const struct line_sort_options *o,
                    struct memory *memory, size_t block) {
  *r = (struct line_runs){.o = o, .memory = memory, .block = block};
  lock_init(&r->lock, LOCK_LINE_RUNS);
  r->codec = first_codec(o);
  r->decided = o->packing != LINE_PACKING_AUTO;
}

/* NULL is allowed. */
static void free_run(struct line_run *run) {
  if (!run) {
    return;
  }
  line_run_free(run);
  native_free(run);
}

void line_runs_destroy(struct line_runs *r) {
  for (size_t i = 0; i < r->n; i++) {
    free_run(r->run[i]);
  }
  native_free(r->run);
  pems_disks_close(r->disks);
  lock_destroy(&r->lock);
}

size_t line_runs_codec_memory(const struct line_sort_options *o) {
  size_t most = line_run_out_memory(first_codec(o));
  if (o->packing == LINE_PACKING_AUTO && line_codec_there(LINE_CODEC_LZ4)) {
    most = line_run_out_memory(LINE_CODEC_LZ4);
  }
  return most;
}

/* --- writing a run --- */

static int open_disks_locked(struct line_runs *r, struct pems_error *error) {
  return r->disks ? 0 : pems_disks_open(&r->disks, &r->o->scratch, error);
}

int line_runs_begin(struct line_runs *r, uint64_t order, struct line_run **run,
                    struct line_run_out *out, struct pems_error *error) {
  struct line_run *const new = native_zalloc(1, sizeof(*new));
  *run = NULL;
  if (!new) {
    return failure(error, ENOMEM, "memory: for a run: free some");
  }
  lock_take(&r->lock);
  int failed = open_disks_locked(r, error);
  new->order = order;
  new->codec = r->codec;
  new->whole = r->o->order->whole;
  new->blocks.disks = r->disks;
  new->blocks.size = r->block;
  lock_give(&r->lock);
  if (!failed) {
    failed = line_run_begin(out, new, r->memory, error);
  } else {
    *out = (struct line_run_out){0};
  }
  if (failed) {
    line_runs_drop(new, out);
  } else {
    *run = new;
  }
  return failed;
}

void line_runs_drop(struct line_run *run, struct line_run_out *out) {
  if (out->run) {
    line_run_out_free(out);
  }
  free_run(run);
}

/* From what was written so far. */
static void decide_locked(struct line_runs *r) {
  if (r->decided || r->write_ns == 0) {
    return;
  }
  const double seconds = (double)r->write_ns / 1e9;
  const double rate = (double)r->written / seconds;
  if ((double)r->wait_ns < WAIT_SHARE * (double)r->write_ns ||
      rate > LZ4_RATE) {
    return;
  }
  const bool slow = rate < ZSTD_RATE || !line_codec_there(LINE_CODEC_LZ4);
  r->decided = true;
  r->codec = slow && line_codec_there(LINE_CODEC_ZSTD) ? LINE_CODEC_ZSTD
             : line_codec_there(LINE_CODEC_LZ4)        ? LINE_CODEC_LZ4
                                                       : LINE_CODEC_NONE;
}

static int add_locked(struct line_runs *r, struct line_run *run,
                      struct pems_error *error) {
  if (r->n == r->room) {
    const size_t room = r->room ? 2 * r->room : 64;
    struct line_run **const more = native_realloc(r->run, room * sizeof(*more));
    if (!more) {
      return failure(error, ENOMEM, "memory: for %zu runs: free some", room);
    }
    r->run = more;
    r->room = room;
  }
  r->run[r->n++] = run;
  return 0;
}

static void count_locked(struct line_runs *r, const struct line_run *run,
                         uint64_t ns, uint64_t wait_ns) {
  r->all++;
  r->packed += run->codec != LINE_CODEC_NONE;
  r->raw += run->raw;
  r->written += run->blocks.bytes;
  r->write_ns += ns;
  r->wait_ns += wait_ns;
  if (r->o->packing == LINE_PACKING_AUTO && run->codec &&
      (double)run->blocks.bytes > PACKED_SHARE * (double)run->raw) {
    r->codec = LINE_CODEC_NONE;
  }
  decide_locked(r);
}

int line_runs_add(struct line_runs *r, struct line_run *run,
                  struct line_run_out *out, uint64_t ns,
                  struct pems_error *error) {
  int failed = line_run_end(out, error);
  const uint64_t wait_ns = out->out.wait_ns;
  line_run_out_free(out);
  if (!failed) {
    lock_take(&r->lock);
    failed = add_locked(r, run, error);
    count_locked(r, run, ns, wait_ns);
    lock_give(&r->lock);
  }
  if (failed) {
    free_run(run);
  }
  return failed;
}

/* --- merging --- */

static int compare_runs(const void *a, const void *b) {
  const struct line_run *const x = *(struct line_run *const *)a;
  const struct line_run *const y = *(struct line_run *const *)b;
  return (x->order > y->order) - (x->order < y->order);
}

void line_runs_sort(struct line_runs *r) {
  if (r->n > 1) {
    qsort(r->run, r->n, sizeof(struct line_run *), compare_runs);
  }
}

/* What the lines of runs take beside pieces. */
static uint64_t fixed_memory(const struct line_runs *r, size_t from, size_t n) {
  uint64_t sum = 0;
  for (size_t i = from; i < from + n; i++) {
    sum += line_run_in_memory(r->run[i]) + 2 * MEMORY_PAGE;
  }
  return sum;
}

static size_t piece_of(const struct line_runs *r, size_t from, size_t n,
                       uint64_t memory) {
  const struct line_plan plan = {.block = r->block};
  if (r->o->batch && n > r->o->batch) {
    return 0;
  }
  return line_plan_piece(&plan, memory, n, fixed_memory(r, from, n));
}

static int merge_cursors(struct line_runs *r, struct line_cursor *cursor,
                         size_t n, struct line_run_out *out,
                         struct pems_error *error) {
  struct line_parallel *merge;
  const struct line_view *v;
  size_t common;
  int failed = line_parallel_new(&merge, r->o->order, cursor, n, r->o->threads,
                                 r->memory, error);
  while (!failed) {
    failed = line_parallel_next(merge, &v, &common, error);
    if (failed || !v) {
      break;
    }
    failed = line_run_put(out, v->string, v->string_n, common, v->line,
                          v->line_n, error);
  }
  line_parallel_free(merge);
  return failed;
}

static int open_cursors(struct line_runs *r, size_t from, size_t n,
                        size_t piece, struct line_cursor *cursor,
                        struct pems_error *error) {
  for (size_t i = 0; i < n; i++) {
    const int failed = line_cursor_of_run(&cursor[i], r->run[from + i], piece,
                                          r->memory, error);
    if (failed) {
      return failed;
    }
  }
  return 0;
}

/* Merges n runs into a new one, which takes the place of the first. */
static int merge_some(struct line_runs *r, size_t from, size_t n, size_t piece,
                      struct pems_error *error) {
  struct line_cursor *const cursor = native_zalloc(n, sizeof(*cursor));
  struct line_run *run = NULL;
  struct line_run_out out;
  int failed = cursor
                   ? line_runs_begin(r, r->run[from]->order, &run, &out, error)
                   : failure(error, ENOMEM, "memory: to merge: free some");
  if (!failed) {
    failed = open_cursors(r, from, n, piece, cursor, error);
  }
  if (!failed) {
    failed = merge_cursors(r, cursor, n, &out, error);
  }
  for (size_t i = 0; cursor && i < n; i++) {
    if (cursor[i].free) {
      cursor[i].free(&cursor[i]);
    }
  }
  native_free(cursor);
  if (!failed) {
    failed = line_run_end(&out, error);
  }
  if (failed) {
    if (run) {
      line_runs_drop(run, &out);
    }
    return failed;
  }
  line_run_out_free(&out);
  free_run(r->run[from]);
  r->run[from] = run;
  return 0;
}

/* How many runs from there on can be merged at once. */
static size_t group_at(const struct line_runs *r, size_t from, uint64_t memory,
                       size_t *piece) {
  size_t n = 1;
  *piece = 0;
  for (; from + n < r->n; n++) {
    const size_t p = piece_of(r, from, n + 1, memory);
    if (p == 0) {
      break;
    }
    *piece = p;
  }
  return n;
}

/* One pass; fails if no two neighbours can be merged. */
static int merge_groups(struct line_runs *r, uint64_t memory,
                        struct pems_error *error) {
  size_t left = 0;
  const size_t before = r->n;
  for (size_t i = 0, n; i < before; i += n) {
    size_t piece;
    n = group_at(r, i, memory, &piece);
    const int failed = n > 1 ? merge_some(r, i, n, piece, error) : 0;
    if (failed) {
      return failed;
    }
    for (size_t k = 1; k < n; k++) {
      free_run(r->run[i + k]);
      r->run[i + k] = NULL;
    }
    r->run[left++] = r->run[i];
    if (left - 1 != i) {
      r->run[i] = NULL;
    }
  }
  return left < before ? (r->n = left, 0)
                       : failure(error, ENOMEM,
                                 "memory for merging: %llu bytes: too little "
                                 "for lines as long as these: give more (-S)",
                                 (unsigned long long)memory);
}

int line_runs_reduce(struct line_runs *r, uint64_t memory, size_t *piece,
                     int *passes, struct pems_error *error) {
  const uint64_t out =
      2 * (uint64_t)r->block + line_runs_codec_memory(r->o) + 4 * MEMORY_PAGE;
  *piece = 0;
  while (r->n > 0 && (*piece = piece_of(r, 0, r->n, memory)) == 0) {
    const int failed = merge_groups(r, memory > out ? memory - out : 0, error);
    if (failed) {
      return failed;
    }
    ++*passes;
  }
  return 0;
}
