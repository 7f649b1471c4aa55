/* The functions of <pems/pqueue.h>, but for making and freeing a queue. */
#include "em/pqueue/pqueue.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "base/forked.h"
#include "os/lock.h"

/* --- what every call has in common --- */

/* Keeps the first error, which all later calls tell again. */
static int fail(struct pems_pqueue *q, const struct pems_error *e,
                struct pems_error *error) {
  if (!q->failed) {
    q->error = *e;
    q->failed = e->code;
    q->sure = 0;
  }
  if (error) {
    *error = q->error;
  }
  return q->failed;
}

static int misused(struct pems_pqueue *q, const char *what,
                   struct pems_error *error) {
  struct pems_error e;
  failure(&e, EINVAL, "priority queue: %s", what);
  return fail(q, &e, error);
}

/* A call may begin in this mode only. */
static int begin(struct pems_pqueue *q, enum pqueue_mode mode,
                 struct pems_error *error) {
  if (forked_since(q->born)) {
    return forked_refuse("priority queue", error);
  }
  if (q->failed) {
    return fail(q, &q->error, error);
  }
  if (q->mode == mode) {
    return 0;
  }
  if (q->mode == PQ_BULK) {
    return misused(q, "in a bulk: end it by pems_pqueue_bulk_push_end", error);
  }
  if (q->mode == PQ_LIMIT) {
    return misused(q, "behind a limit: end it by pems_pqueue_limit_end", error);
  }
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
    disk_arrays_settle(q->external);
    failed = pqueue_flush_finish(q, e);
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
  struct disk_arrays_counts x;
  struct pems_disk_counts now;
  disk_arrays_counts(q->external, &x);
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
    record_first_equal(r, q->limit_stored);
  }
  if (q->s.kernel->encode) {
    q->s.kernel->encode(r, q->limit_stored, 1);
  }
}

/* --- one by one --- */

int pems_pqueue_push(struct pems_pqueue *queue, const void *records, size_t n,
                     struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  struct pems_error e;
  int failed = begin(q, PQ_SINGLE, error);
  if (failed) {
    return failed;
  }
  q->top = PQ_UNKNOWN;
  failed = pqueue_push(q, records, n, &e);
  add(q, failed ? 0 : n);
  return end(q, failed, &e, error);
}

const void *pems_pqueue_top(struct pems_pqueue *queue,
                            struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  struct pems_error e;
  if (begin(q, PQ_SINGLE, error)) {
    return NULL;
  }
  if (q->top == PQ_UNKNOWN &&
      end(q, pqueue_top_find(q, TOP_ORDERED_AREA, &e), &e, error)) {
    return NULL;
  }
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
  if (!failed && q->top == PQ_UNKNOWN) {
    failed = end(q, pqueue_top_find(q, TOP_ORDERED_AREA, &e), &e, error);
  }
  if (failed) {
    return failed;
  }
  if (!q->first) {
    return nothing(error);
  }
  if (record) {
    memcpy(record, q->first, pq_size(q));
  }
  pqueue_top_pop(q);
  count_popped(q, 1);
  return 0;
}

/* --- in bulk --- */

int pems_pqueue_bulk_push_begin(struct pems_pqueue *queue, uint64_t estimate,
                                struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  const int failed = begin(q, PQ_SINGLE, error);
  if (failed) {
    return failed;
  }
  pqueue_area_expect(q, estimate);
  pqueue_lanes_begin(q, estimate);
  q->mode = PQ_BULK;
  q->top = PQ_UNKNOWN;
  return 0;
}

/* To the area, with the lock. */
static int append_shared(struct pems_pqueue *q, const void *records, size_t n,
                         struct pems_error *error) {
  struct pems_error e;
  lock_take(&q->lock);
  int failed = q->failed ? q->failed : pqueue_push(q, records, n, &e);
  if (!failed) {
    add(q, n);
  }
  if (failed || q->failed) {
    failed = fail(q, q->failed ? &q->error : &e, error);
  }
  lock_give(&q->lock);
  return failed;
}

static int misused_shared(struct pems_pqueue *q, int thread,
                          struct pems_error *error) {
  struct pems_error e;
  lock_take(&q->lock);
  if (q->mode == PQ_BULK) {
    failure(&e, EINVAL, "thread: %d: give 0 to %d", thread, q->o.threads - 1);
  } else {
    failure(&e, EINVAL,
            "priority queue: no bulk: begin it by pems_pqueue_bulk_push_begin");
  }
  const int failed = fail(q, &e, error);
  lock_give(&q->lock);
  return failed;
}

int pems_pqueue_bulk_push(struct pems_pqueue *queue, int thread,
                          const void *records, size_t n,
                          struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  if (forked_since(q->born)) {
    return forked_refuse("priority queue", error);
  }
  if (q->mode != PQ_BULK || thread < 0 || thread >= q->o.threads) {
    return misused_shared(q, thread, error);
  }
  struct pqueue_lane *const lane = &q->lane[thread];
  const size_t size = pq_size(q);
  if (n > lane->room - lane->n || q->failed) {
    const int failed = append_shared(q, lane->records, lane->n, error);
    if (failed) {
      return failed;
    }
    lane->n = 0;
  }
  if (n > lane->room) {
    return append_shared(q, records, n, error);
  }
  if (n > 0) { /* else `records` may be NULL */
    memcpy(lane->records + lane->n * size, records, n * size);
  }
  lane->n += n;
  return 0;
}

int pems_pqueue_bulk_push_end(struct pems_pqueue *queue,
                              struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  struct pems_error e;
  int failed = begin(q, PQ_BULK, error);
  if (failed) {
    return failed;
  }
  q->mode = PQ_SINGLE;
  for (int i = 0; i < q->o.threads && !failed; i++) {
    failed = pqueue_push(q, q->lane[i].records, q->lane[i].n, &e);
    add(q, failed ? 0 : q->lane[i].n);
  }
  pqueue_lanes_end(q);
  return end(q, failed, &e, error);
}

/* Merged, to `records`, of which there are *n already. */
static int pop_merged(struct pems_pqueue *q, const char *limit, void *records,
                      size_t max, size_t expected, size_t *n, int *more,
                      struct pems_error *error) {
  size_t others;
  if (limit) {
    encode_limit(q, limit);
    limit = q->limit_stored;
  }
  int failed = pqueue_extract(q, (char *)records + *n * pq_size(q), max - *n,
                              expected, limit, &others, error);
  *n += others;
  if (!failed && more) {
    failed = pqueue_extract_more(q, limit, more, error);
  }
  return failed;
}

/* How many there are before a limit is not known: perhaps as many as before the
   last one. */
static int pop_bulk(struct pems_pqueue *q, const char *limit, void *records,
                    size_t max, size_t *n, int *more,
                    struct pems_error *error) {
  const size_t expected =
      limit && q->before_limit < max ? q->before_limit : max;
  const size_t few =
      pqueue_extract_few(q) < PQ_FEW ? pqueue_extract_few(q) : PQ_FEW;
  struct pems_error e;
  *n = 0;
  int failed = begin(q, PQ_SINGLE, error);
  if (failed) {
    return failed;
  }
  if (expected <= few) {
    failed = pqueue_top_take(q, records, max < few ? max : few, limit, n, &e);
  }
  if (!failed && max > few && (expected > few || *n == few)) {
    failed = pop_merged(q, limit, records, max, expected, n, more, &e);
  } else if (!failed && more) {
    failed = pqueue_top_more(q, limit, more, &e);
  }
  count_popped(q, *n);
  if (limit) {
    q->before_limit = *n;
  }
  return end(q, failed, &e, error);
}

int pems_pqueue_bulk_pop(struct pems_pqueue *queue, void *records, size_t max,
                         size_t *n, struct pems_error *error) {
  return pop_bulk(queue, NULL, records, max, n, NULL, error);
}

int pems_pqueue_bulk_pop_limit(struct pems_pqueue *queue, const void *limit,
                               void *records, size_t max, size_t *n, int *more,
                               struct pems_error *error) {
  if (more) {
    *more = 0;
  }
  return pop_bulk(queue, limit, records, max, n, more, error);
}

/* --- with a limit --- */

int pems_pqueue_limit_begin(struct pems_pqueue *queue, const void *limit,
                            uint64_t estimate, struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  struct pems_error e;
  int failed = begin(q, PQ_SINGLE, error);
  if (failed) {
    return failed;
  }
  pqueue_area_expect(q, estimate);
  memcpy(q->limit, limit, pq_size(q));
  /* The area is not looked at until the end: what is pushed is behind. */
  const char *const least = pqueue_area_least(q);
  if (least && record_order_compare(&q->order, least, limit) < 0) {
    failed = pqueue_push_sort(q, &e);
  }
  q->mode = PQ_LIMIT;
  q->top = PQ_UNKNOWN;
  return end(q, failed, &e, error);
}

/* The record at the front of the extract buffer is the first. */
static void hold_sure(struct pems_pqueue *q) {
  struct pqueue_buffer *const b = &q->buffer;
  record_copy(q->held, b->at, pq_size(q));
  b->at += pq_size(q);
  b->n--;
  b->open -= b->open > 0;
  q->sure--;
  q->holds = true;
}

/* Takes the first record out if it is before the limit: pushes would move it,
   or bring others that are equal before it. */
static int find_first(struct pems_pqueue *q, struct pems_error *error) {
  struct pems_error e;
  int failed = begin(q, PQ_LIMIT, error);
  if (failed || q->holds) {
    return failed;
  }
  if (q->top == PQ_UNKNOWN) {
    failed = end(q, pqueue_top_find(q, TOP_WITHOUT_AREA, &e), &e, error);
  }
  if (failed || !q->first ||
      record_order_compare(&q->order, q->first, q->limit) >= 0) {
    return failed;
  }
  const size_t sure = pqueue_top_sure(q, q->limit);
  memcpy(q->held, q->first, pq_size(q));
  pqueue_top_pop(q);
  q->holds = true;
  q->sure = sure > 0 ? sure - 1 : 0;
  return 0;
}

/* Calls behind a limit are what bounds a simulation: most of them come to an
   end here. */
static inline bool is_limited(const struct pems_pqueue *q) {
  return q->mode == PQ_LIMIT && !q->failed && !forked_since(q->born);
}

static inline int hold_first(struct pems_pqueue *q, struct pems_error *error) {
  if (!is_limited(q) || (!q->holds && q->sure == 0)) {
    return find_first(q, error);
  }
  if (!q->holds) {
    hold_sure(q);
  }
  return 0;
}

static inline bool is_before_limit(const struct pems_pqueue *q,
                                   const char *record) {
  if (q->order.kind == RECORD_8) { /* most often; without a call */
    return record_before(&q->order, RECORD_8, record, q->limit);
  }
  return record_order_compare(&q->order, record, q->limit) < 0;
}

const void *pems_pqueue_limit_top(struct pems_pqueue *queue,
                                  struct pems_error *error) {
  return hold_first(queue, error) || !queue->holds ? NULL : queue->held;
}

int pems_pqueue_limit_pop(struct pems_pqueue *queue, void *record,
                          struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  const int failed = hold_first(q, error);
  if (failed) {
    return failed;
  }
  if (!q->holds) {
    return nothing(error);
  }
  if (record) {
    memcpy(record, q->held, pq_size(q));
  }
  q->holds = false;
  count_popped(q, 1);
  return 0;
}

int pems_pqueue_limit_push(struct pems_pqueue *queue, const void *records,
                           size_t n, struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  const char *const from = records;
  struct pems_error e;
  if (n == 1 && is_limited(q) && !is_before_limit(q, from) &&
      pqueue_push_one(q, from)) {
    add(q, 1);
    return 0;
  }
  int failed = begin(q, PQ_LIMIT, error);
  for (size_t i = 0; i < n && !failed; i++) {
    if (is_before_limit(q, from + i * pq_size(q))) {
      failed = misused(q, "a record before the limit: push it later", error);
    }
  }
  if (failed) {
    return failed;
  }
  failed = pqueue_push(q, records, n, &e);
  add(q, failed ? 0 : n);
  return end(q, failed, &e, error);
}

int pems_pqueue_limit_end(struct pems_pqueue *queue, struct pems_error *error) {
  struct pems_pqueue *const q = queue;
  struct pems_error e;
  int failed = begin(q, PQ_LIMIT, error);
  if (failed) {
    return failed;
  }
  q->mode = PQ_SINGLE;
  q->top = PQ_UNKNOWN;
  q->sure = 0;
  if (q->holds) {
    failed = pqueue_push(q, q->held, 1, &e);
  }
  q->holds = false;
  return end(q, failed, &e, error);
}
