/* The functions of <pems/pqueue.h>. */
#include "em/pqueue.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "base/native.h"
#include "base/options.h"
#include "em/defaults.h"
#include "em/pqueue_plan.h"

/* Less than this is not tried, more than this there is not. */
#define LEAST_MEMORY ((uint64_t)16 << 10)
#define MOST_MEMORY ((uint64_t)1 << 46)
enum { MOST_THREADS = 1024 };

/* --- options --- */

static int check_sizes(const struct pems_pqueue_options *o,
                       struct pems_error *error) {
  if (o->block % PEMS_DISK_UNIT || (o->block && o->block < o->record.size))
    return failure(error, EINVAL,
                   "block size: %zu bytes: give a multiple of %d that holds a "
                   "record",
                   o->block, PEMS_DISK_UNIT);
  if (o->arrays < 0 || o->arrays == 1 || o->external_arrays < 0 ||
      o->external_arrays == 1 || o->arrays > 1 << 16)
    return failure(error, EINVAL,
                   "arrays of a level: %d in memory, %d on disk: give 2 to "
                   "65536",
                   o->arrays, o->external_arrays);
  if ((uintptr_t)o->room % 64)
    return failure(error, EINVAL,
                   "room for records: %p: give memory aligned to 64 bytes",
                   o->room);
  if (o->room && !o->memory)
    return failure(error, EINVAL,
                   "room for records: its size is 0: say it in memory");
  return 0;
}

static int check_options(const struct pems_pqueue_options *o,
                         struct pems_error *error) {
  const int failed = pems_record_check(&o->record, error);
  if (failed)
    return failed;
  if (o->record.stable)
    return failure(error, EINVAL,
                   "stable: a priority queue has no order of equal records: "
                   "make it part of the key");
  if (o->threads < 0 || o->threads > MOST_THREADS)
    return failure(error, EINVAL, "threads: %d: give 1 to %d", o->threads,
                   MOST_THREADS);
  if ((unsigned)o->deal > PEMS_DEAL_RANDOM)
    return failure(error, EINVAL, "deal: %d: no such value: see pems/disk.h",
                   (int)o->deal);
  return check_sizes(o, error);
}

static const struct kernel *choose_kernel(const struct pems_pqueue_options *o,
                                          struct pems_error *error) {
  const struct kernel *const kernel = kernel_find(&o->record, o->kernel);
  if (!kernel)
    failure(error, EINVAL,
            "kernel: %s: unknown, or not for such records: leave it out",
            o->kernel ? o->kernel : "none");
  return kernel;
}

/* With what pems chooses where the user does not. */
static struct pems_pqueue_options
chosen(const struct pems_pqueue_options *given) {
  struct pems_pqueue_options o = *given;
  if (!o.memory)
    o.memory = default_memory();
  if (!o.threads)
    o.threads = default_threads();
  return o;
}

static int works_in(const struct pems_pqueue_options *given,
                    const struct kernel *kernel, uint64_t memory) {
  struct pems_pqueue_options o = *given;
  struct pqueue_plan plan;
  o.memory = memory;
  return pqueue_plan(&plan, &o, kernel) == 0;
}

uint64_t pems_pqueue_least_memory(const struct pems_pqueue_options *options) {
  if (check_options(options, NULL))
    return 0;
  const struct pems_pqueue_options o = chosen(options);
  const struct kernel *const kernel = kernel_find(&o.record, o.kernel);
  if (!kernel)
    return 0;
  uint64_t no = LEAST_MEMORY, yes = LEAST_MEMORY;
  while (!works_in(&o, kernel, yes)) {
    no = yes;
    yes *= 2;
    if (yes > MOST_MEMORY)
      return 0;
  }
  while (yes - no > 1) {
    const uint64_t middle = no + (yes - no) / 2;
    if (works_in(&o, kernel, middle))
      yes = middle;
    else
      no = middle;
  }
  return yes;
}

static int too_small(const struct pems_pqueue_options *o,
                     struct pems_error *error) {
  char given[16];
  size_format(o->memory, given, sizeof given);
  return failure(
      error, ENOMEM,
      "memory of a priority queue: %s: give %lluK or more (fewer threads or a "
      "smaller block need less)",
      given, (unsigned long long)(pems_pqueue_least_memory(o) + 1023) / 1024);
}

/* --- beginning and end --- */

static int open_disks(struct pems_pqueue *q, struct pems_error *error) {
  q->s.disks = q->o.disks;
  if (q->s.disks)
    return 0;
  q->s.own_disks = 1;
  return pems_disks_open(&q->s.disks, &q->o.scratch, error);
}

/* What the parts that it shares with sorting look at. */
static void set_sort(struct pems_pqueue *q, const struct pqueue_plan *p) {
  struct sort *const s = &q->s;
  s->o = (struct pems_sort_options){
      .record = q->o.record,
      .memory = q->o.memory,
      .threads = q->o.threads,
      .merge_threads = q->o.threads,
      .block = p->block,
      .deal = q->o.deal,
      .seed = q->o.seed,
  };
  s->plan.block = p->block;
  s->plan.in_place = !s->kernel->emit && p->block % q->o.record.size == 0;
  s->counts.disks = pems_disks_count(s->disks);
}

static void set_choices(struct pems_pqueue *q, const struct pqueue_plan *p) {
  q->o.block = p->block;
  q->o.heap = p->heap;
  q->o.extract_buffer = p->extract_buffer;
  q->o.arrays = p->arrays;
  q->o.external_arrays = (int)p->external_arrays;
  q->most_arrays = p->most_arrays;
  q->most_external = p->most_external;
  q->lane_records = p->lane_records;
  q->room_bytes = p->room_bytes;
  q->work_each = p->work_each;
}

static size_t lanes_bytes(const struct pems_pqueue *q) {
  return q->lane_records * pq_size(q) * (size_t)q->o.threads;
}

static size_t work_bytes(const struct pems_pqueue *q) {
  return q->work_each * (size_t)q->o.threads;
}

/* Its own memory, or the caller's room, from the first whole page on; from now
   on buffers come from there. */
static int take_arena(struct pems_pqueue *q, const struct pqueue_plan *p) {
  const size_t skip = -(uintptr_t)q->o.room & (MEMORY_PAGE - 1);
  char *base = q->o.room ? (char *)q->o.room + skip : NULL;
  if (base)
    memory_note(&q->s.memory, (int64_t)q->room_bytes);
  else
    base = q->own_room = memory_get(&q->s.memory, q->room_bytes);
  const int failed =
      base ? arena_init(&q->arena, base, q->room_bytes, p->unit) : ENOMEM;
  q->s.memory.arena = failed ? NULL : &q->arena;
  return failed;
}

static int take_lists(struct pems_pqueue *q, const struct pqueue_plan *p) {
  const size_t size = pq_size(q);
  q->lanes = memory_get(&q->s.memory, lanes_bytes(q));
  q->work = memory_get(&q->s.memory, work_bytes(q));
  q->lane = native_aligned(64, (size_t)q->o.threads * sizeof *q->lane);
  q->piece = native_alloc(p->pieces * sizeof *q->piece);
  q->piece_slot = native_alloc(p->pieces * sizeof *q->piece_slot);
  q->piece_end = native_alloc(p->pieces * sizeof *q->piece_end);
  q->requests =
      native_zalloc(q->room_bytes / p->block + 1, sizeof *q->requests);
  q->few = native_zalloc(RECORDS, size);
  if (!q->lanes || !q->work || !q->lane || !q->piece || !q->piece_slot ||
      !q->piece_end || !q->requests || !q->few)
    return ENOMEM;
  lanes_narrow(q);
  q->head = q->few;
  q->held = q->few + size;
  q->limit = q->few + 2 * size;
  q->limit_stored = q->few + 3 * size;
  q->least_stored = q->few + 4 * size;
  return 0;
}

static int take_memory(struct pems_pqueue *q, const struct pqueue_plan *p,
                       struct pems_error *error) {
  int failed = take_arena(q, p);
  if (!failed)
    failed = take_lists(q, p);
  if (!failed)
    failed = arrays_init(&q->arrays, &q->s.o.record, q->s.kernel, &q->arena,
                         p->most_arrays + ARRAYS_SPARE);
  if (failed)
    return failure(error, failed,
                   "memory of a priority queue: %llu bytes: give it less",
                   (unsigned long long)q->o.memory);
  q->reserve_bytes = p->reserve_blocks * p->block;
  q->reserve = memory_get(&q->s.memory, q->reserve_bytes);
  return 0;
}

/* Shares of the memory come in whole units: where a little more than the least
   would be too little again, the least is used. */
static int plan_memory(struct pems_pqueue *q, struct pqueue_plan *plan) {
  if (pqueue_plan(plan, &q->o, q->s.kernel) == 0)
    return 0;
  const uint64_t least = pems_pqueue_least_memory(&q->o);
  if (!least || least > q->o.memory)
    return ENOMEM;
  q->o.memory = least;
  return pqueue_plan(plan, &q->o, q->s.kernel);
}

static int prepare(struct pems_pqueue *q, struct pems_error *error) {
  struct pqueue_plan plan;
  if (plan_memory(q, &plan))
    return too_small(&q->o, error);
  int failed = open_disks(q, error);
  if (failed)
    return failed;
  set_choices(q, &plan);
  set_sort(q, &plan);
  runs_init(&q->s.runs, &q->s.memory, q->s.disks, plan.block, pq_size(q));
  pems_disks_counts(q->s.disks, &q->io_before);
  failed = sort_team(&q->s, q->o.threads, error);
  if (!failed)
    failed = take_memory(q, &plan, error);
  if (failed)
    return failed;
  const struct external_options x = {
      .record = &q->s.o.record,
      .kernel = q->s.kernel,
      .runs = &q->s.runs,
      .arena = &q->arena,
  };
  failed = external_new(&q->external, &x, error);
  if (!failed)
    external_budget(q->external, plan.read_blocks);
  return failed;
}

int pems_pqueue_new(struct pems_pqueue **queue,
                    const struct pems_pqueue_options *options,
                    struct pems_error *error) {
  struct pems_error e;
  *queue = NULL;
  int failed = check_options(options, error);
  if (failed)
    return failed;
  struct pems_pqueue *const q = native_zalloc(1, sizeof *q);
  if (!q)
    return failure(error, ENOMEM, "memory: a priority queue: free some");
  q->o = chosen(options);
  record_order(&q->o.record, &q->order);
  memory_init(&q->s.memory, q->o.memory);
  runs_init(&q->s.runs, &q->s.memory, NULL, MEMORY_PAGE, q->o.record.size);
  pthread_mutex_init(&q->lock, NULL);
  pthread_cond_init(&q->copied, NULL);
  q->s.kernel = choose_kernel(&q->o, &e);
  failed = q->s.kernel ? prepare(q, &e) : EINVAL;
  if (failed) {
    pems_pqueue_free(q);
    if (error)
      *error = e;
    return failed;
  }
  *queue = q;
  return 0;
}

static void free_lists(struct pems_pqueue *q) {
  q->s.memory.arena = NULL;
  memory_put(&q->s.memory, q->own_room, q->room_bytes);
  native_free(q->lane);
  native_free(q->piece);
  native_free(q->piece_slot);
  native_free(q->piece_end);
  native_free(q->requests);
  native_free(q->few);
}

void pems_pqueue_free(struct pems_pqueue *queue) {
  struct pems_pqueue *const q = queue;
  if (!q)
    return;
  flush_abandon(q);
  external_free(q->external);
  arrays_destroy(&q->arrays);
  arena_destroy(&q->arena);
  free_lists(q);
  sort_end(&q->s);
  pthread_mutex_destroy(&q->lock);
  pthread_cond_destroy(&q->copied);
  native_free(q);
}

/* --- what every call has in common --- */

/* Keeps the first error, which all later calls tell again. */
static int fail(struct pems_pqueue *q, const struct pems_error *e,
                struct pems_error *error) {
  if (!q->failed) {
    q->error = *e;
    q->failed = e->code;
  }
  if (error)
    *error = q->error;
  return q->failed;
}

static int misused(struct pems_pqueue *q, const char *what,
                   struct pems_error *error) {
  struct pems_error e;
  failure(&e, EINVAL, "priority queue: %s", what);
  return fail(q, &e, error);
}

/* A call may begin in this mode only. */
static int begin(struct pems_pqueue *q, enum pq_mode mode,
                 struct pems_error *error) {
  if (q->failed)
    return fail(q, &q->error, error);
  if (q->mode == mode)
    return 0;
  if (q->mode == PQ_BULK)
    return misused(q, "in a bulk: end it by pems_pqueue_bulk_push_end", error);
  if (q->mode == PQ_LIMIT)
    return misused(q, "behind a limit: end it by pems_pqueue_limit_end", error);
  return misused(q,
                 mode == PQ_BULK ? "no bulk: begin it by "
                                   "pems_pqueue_bulk_push_begin"
                                 : "no limit: begin it by "
                                   "pems_pqueue_limit_begin",
                 error);
}

/* It ends; the caller's memory may move away after it. */
static int end(struct pems_pqueue *q, int failed, struct pems_error *e,
               struct pems_error *error) {
  if (!failed && q->o.room) {
    external_settle(q->external);
    failed = flush_finish(q, e);
  }
  return failed ? fail(q, e, error) : 0;
}

uint64_t pems_pqueue_size(const struct pems_pqueue *queue) {
  return queue->size;
}

int pems_pqueue_empty(const struct pems_pqueue *queue) {
  return queue->size == 0;
}

void pems_pqueue_counts(const struct pems_pqueue *queue,
                        struct pems_pqueue_counts *counts) {
  const struct pems_pqueue *const q = queue;
  struct external_counts x;
  struct pems_disk_counts now;
  external_counts(q->external, &x);
  pems_disks_counts(q->s.disks, &now);
  *counts = q->counts;
  counts->block = q->s.plan.block;
  counts->disks = q->s.counts.disks;
  counts->threads = q->o.threads;
  counts->memory = memory_most((struct memory *)&q->s.memory);
  counts->kernel = q->s.kernel->name;
  counts->hints = x.hints;
  counts->cancelled = x.cancelled;
  counts->cpu_seconds = (double)team_cpu_ns(q->s.team) / 1e9;
  sort_add_io(&counts->io, &q->io_before, &now);
  counts->io.read_wait_ns = now.read_wait_ns - q->io_before.read_wait_ns;
  counts->io.write_wait_ns = now.write_wait_ns - q->io_before.write_wait_ns;
}

static void add(struct pems_pqueue *q, size_t n) {
  q->size += n;
  q->counts.pushed += n;
  q->counts.most = q->size > q->counts.most ? q->size : q->counts.most;
}

/* In stored form, where kernels may compare what is not key, too: the least of
   the records with this key. */
static void encode_limit(struct pems_pqueue *q, const void *record) {
  const struct pems_record *const r = &q->s.o.record;
  if (r->compare) {
    memcpy(q->limit_stored, record, r->size);
  } else {
    memset(q->limit_stored, 0, r->size);
    memcpy(q->limit_stored + r->key_offset,
           (const char *)record + r->key_offset, pems_record_key_bytes(r));
  }
  if (q->s.kernel->encode)
    q->s.kernel->encode(r, q->limit_stored, 1);
}

/* --- one by one --- */

int pems_pqueue_push(struct pems_pqueue *queue, const void *records, size_t n,
                     struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  struct pems_error e;
  int failed = begin(q, PQ_SINGLE, error);
  if (failed)
    return failed;
  q->top = PQ_UNKNOWN;
  failed = area_append(q, records, n, &e);
  add(q, failed ? 0 : n);
  return end(q, failed, &e, error);
}

const void *pems_pqueue_top(struct pems_pqueue *queue,
                            struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  struct pems_error e;
  if (begin(q, PQ_SINGLE, error))
    return NULL;
  if (q->top == PQ_UNKNOWN && end(q, top_find(q, true, &e), &e, error))
    return NULL;
  return q->first;
}

static void count_popped(struct pems_pqueue *q, size_t n) {
  q->size -= n;
  q->counts.popped += n;
}

static int nothing(struct pems_error *error) {
  return failure(error, ENOENT,
                 "priority queue: it is empty: push something first");
}

int pems_pqueue_pop(struct pems_pqueue *queue, void *record,
                    struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  struct pems_error e;
  int failed = begin(q, PQ_SINGLE, error);
  if (!failed && q->top == PQ_UNKNOWN)
    failed = end(q, top_find(q, true, &e), &e, error);
  if (failed)
    return failed;
  if (!q->first)
    return nothing(error);
  if (record)
    memcpy(record, q->first, pq_size(q));
  top_pop(q);
  count_popped(q, 1);
  return 0;
}

/* --- in bulk --- */

int pems_pqueue_bulk_push_begin(struct pems_pqueue *queue, uint64_t estimate,
                                struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  const int failed = begin(q, PQ_SINGLE, error);
  if (failed)
    return failed;
  area_expect(q, estimate);
  lanes_widen(q, estimate);
  q->mode = PQ_BULK;
  q->top = PQ_UNKNOWN;
  return 0;
}

/* To the area, with the lock. */
static int append_shared(struct pems_pqueue *q, const void *records, size_t n,
                         struct pems_error *error) {
  struct pems_error e;
  pthread_mutex_lock(&q->lock);
  int failed = q->failed ? q->failed : area_append(q, records, n, &e);
  if (!failed)
    add(q, n);
  if (failed || q->failed)
    failed = fail(q, q->failed ? &q->error : &e, error);
  pthread_mutex_unlock(&q->lock);
  return failed;
}

static int misused_shared(struct pems_pqueue *q, int thread,
                          struct pems_error *error) {
  struct pems_error e;
  pthread_mutex_lock(&q->lock);
  if (q->mode == PQ_BULK)
    failure(&e, EINVAL, "thread: %d: give 0 to %d", thread, q->o.threads - 1);
  else
    failure(&e, EINVAL,
            "priority queue: no bulk: begin it by pems_pqueue_bulk_push_begin");
  const int failed = fail(q, &e, error);
  pthread_mutex_unlock(&q->lock);
  return failed;
}

int pems_pqueue_bulk_push(struct pems_pqueue *queue, int thread,
                          const void *records, size_t n,
                          struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  if (q->mode != PQ_BULK || thread < 0 || thread >= q->o.threads)
    return misused_shared(q, thread, error);
  struct lane *const lane = &q->lane[thread];
  const size_t size = pq_size(q);
  if (n > lane->room - lane->n || q->failed) {
    const int failed = append_shared(q, lane->records, lane->n, error);
    if (failed)
      return failed;
    lane->n = 0;
  }
  if (n > lane->room || (n > lane->room / 2 && !q->wide_lanes))
    return append_shared(q, records, n, error);
  if (n > 0) /* else `records` may be NULL */
    memcpy(lane->records + lane->n * size, records, n * size);
  lane->n += n;
  return 0;
}

int pems_pqueue_bulk_push_end(struct pems_pqueue *queue,
                              struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  struct pems_error e;
  int failed = begin(q, PQ_BULK, error);
  if (failed)
    return failed;
  q->mode = PQ_SINGLE;
  for (int i = 0; i < q->o.threads && !failed; i++) {
    failed = area_append(q, q->lane[i].records, q->lane[i].n, &e);
    add(q, failed ? 0 : q->lane[i].n);
  }
  lanes_narrow(q);
  return end(q, failed, &e, error);
}

static int pop_bulk(struct pems_pqueue *q, const char *limit, void *records,
                    size_t max, size_t *n, int *more,
                    struct pems_error *error) {
  struct pems_error e;
  *n = 0;
  int failed = begin(q, PQ_SINGLE, error);
  if (failed)
    return failed;
  if (limit) {
    encode_limit(q, limit);
    limit = q->limit_stored;
  }
  failed = extract(q, records, max, limit, n, &e);
  count_popped(q, *n);
  if (!failed && more)
    failed = extract_more(q, limit, more, &e);
  return end(q, failed, &e, error);
}

int pems_pqueue_bulk_pop(struct pems_pqueue *queue, void *records, size_t max,
                         size_t *n, struct pems_error *error) {
  return pop_bulk(queue, NULL, records, max, n, NULL, error);
}

int pems_pqueue_bulk_pop_limit(struct pems_pqueue *queue, const void *limit,
                               void *records, size_t max, size_t *n, int *more,
                               struct pems_error *error) {
  if (more)
    *more = 0;
  return pop_bulk(queue, limit, records, max, n, more, error);
}

/* --- with a limit --- */

int pems_pqueue_limit_begin(struct pems_pqueue *queue, const void *limit,
                            uint64_t estimate, struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  struct pems_error e;
  int failed = begin(q, PQ_SINGLE, error);
  if (failed)
    return failed;
  area_expect(q, estimate);
  memcpy(q->limit, limit, pq_size(q));
  /* The area is not looked at until the end: what is pushed is behind. */
  const char *const least = area_least(q);
  if (least && record_order_compare(&q->order, least, limit) < 0)
    failed = area_sort(q, &e);
  q->mode = PQ_LIMIT;
  q->top = PQ_UNKNOWN;
  return end(q, failed, &e, error);
}

/* Takes the first record out if it is before the limit: pushes would move it,
   or bring others that are equal before it. */
static int hold_first(struct pems_pqueue *q, struct pems_error *error) {
  struct pems_error e;
  int failed = begin(q, PQ_LIMIT, error);
  if (failed || q->holds)
    return failed;
  if (q->top == PQ_UNKNOWN)
    failed = end(q, top_find(q, false, &e), &e, error);
  if (failed || !q->first ||
      record_order_compare(&q->order, q->first, q->limit) >= 0)
    return failed;
  memcpy(q->held, q->first, pq_size(q));
  top_pop(q);
  q->holds = true;
  return 0;
}

const void *pems_pqueue_limit_top(struct pems_pqueue *queue,
                                  struct pems_error *error) {
  return hold_first(queue, error) || !queue->holds ? NULL : queue->held;
}

int pems_pqueue_limit_pop(struct pems_pqueue *queue, void *record,
                          struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  const int failed = hold_first(q, error);
  if (failed)
    return failed;
  if (!q->holds)
    return nothing(error);
  if (record)
    memcpy(record, q->held, pq_size(q));
  q->holds = false;
  count_popped(q, 1);
  return 0;
}

int pems_pqueue_limit_push(struct pems_pqueue *queue, const void *records,
                           size_t n, struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  const char *const from = records;
  struct pems_error e;
  int failed = begin(q, PQ_LIMIT, error);
  for (size_t i = 0; i < n && !failed; i++)
    if (record_order_compare(&q->order, from + i * pq_size(q), q->limit) < 0)
      failed = misused(q, "a record before the limit: push it later", error);
  if (failed)
    return failed;
  failed = area_append(q, records, n, &e);
  add(q, failed ? 0 : n);
  return end(q, failed, &e, error);
}

int pems_pqueue_limit_end(struct pems_pqueue *queue, struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  struct pems_error e;
  int failed = begin(q, PQ_LIMIT, error);
  if (failed)
    return failed;
  q->mode = PQ_SINGLE;
  q->top = PQ_UNKNOWN;
  if (q->holds)
    failed = area_append(q, q->held, 1, &e);
  q->holds = false;
  return end(q, failed, &e, error);
}
