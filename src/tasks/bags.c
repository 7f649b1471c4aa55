#include "tasks/bags.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "os/lock.h"
#include "os/native.h"
#include "tasks/bag_directory.h"
#include "tasks/bag_search.h"
#include "tasks/overflow.h"

/* Tasks ahead of the one that is taken, of which the program is told. */
#define FAR 8
#define NEAR 4

static struct task_record *record_at(const struct task_bags_worker *w,
                                     struct task_chunk *chunk, uint32_t i) {
  const size_t words = w->handle->sched->stride / sizeof(uint64_t);
  return (struct task_record *)(void *)(chunk->record + i * words);
}

/* --- chunks --- */

/* NULL: no memory. Small and large ones come from shelves of their own, so
   where memory is limited a large one serves for both. */
static struct task_chunk *new_chunk(struct task_bags_worker *w, bool large) {
  struct task_chunk *const chunk = task_chunk_new(w->part, large);
  return chunk || !w->bags->overflow ? chunk : task_overflow_chunk(w);
}

/* --- pushing --- */

/* A chunk with room in `bag`, whose own is full or missing; NULL: no memory. */
static struct task_chunk *make_room(struct task_bags_worker *w,
                                    struct task_bag *bag) {
  const uint32_t whole = (uint32_t)w->handle->sched->options.chunk;
  struct task_chunk **const filling = &bag->filling[w->thread];
  struct task_chunk *full = *filling;
  const bool large = full != NULL;
  if (full && full->most == whole) {
    *filling = NULL;
    task_search_publish(w, bag, full);
  }
  struct task_chunk *chunk = new_chunk(w, large);
  if (!chunk) {
    return NULL;
  }
  full = *filling; /* unless that went to disk just now */
  if (full) {
    chunk->n = full->n - full->at;
    memcpy(chunk->record, record_at(w, full, full->at),
           chunk->n * w->handle->sched->stride);
    task_chunk_free(w->part, full);
  }
  *filling = chunk;
  return chunk;
}

static void forget(struct task_bags_worker *w) {
  atomic_store_explicit(&w->enqueues, 0, memory_order_relaxed);
  atomic_store_explicit(&w->dequeues, 0, memory_order_relaxed);
  atomic_store_explicit(&w->synchronizing, 0, memory_order_relaxed);
  atomic_store_explicit(&w->least, UINT64_MAX, memory_order_relaxed);
  atomic_store_explicit(&w->most, 0, memory_order_relaxed);
}

/* From now on in another window, perhaps under another lmf. */
static void adopt(struct task_bags_worker *w, uint64_t mode) {
  forget(w);
  atomic_store_explicit(&w->window, mode >> 6, memory_order_relaxed);
  w->mode = mode;
  if (w->lmf == task_mode_lmf(mode)) {
    return;
  }
  w->lmf = task_mode_lmf(mode);
  w->bag_pops = 0;
  memset(w->recent, 0, sizeof(w->recent)); /* some may be retired */
}

static void note_priority(struct task_bags_worker *w, uint64_t priority) {
  task_bags_count(&w->enqueues);
  if (priority < atomic_load_explicit(&w->least, memory_order_relaxed)) {
    atomic_store_explicit(&w->least, priority, memory_order_relaxed);
  }
  if (priority > atomic_load_explicit(&w->most, memory_order_relaxed)) {
    atomic_store_explicit(&w->most, priority, memory_order_relaxed);
  }
}

static int no_memory(struct task_bags_worker *w) {
  struct pems_sched *const s = w->bags->sched;
  /* Unless the disks have failed. */
  const int code = pems_sched_failure(s, NULL);
  return code ? code
              : task_fail(s, ENOMEM,
                          "scheduler: no memory for tasks: %llu KiB in use: "
                          "free some, or use pmod with a limit of memory",
                          (unsigned long long)task_pool_bytes(w->bags->pool) >>
                              10);
}

/* The bag that tasks of this priority belong to now. */
static struct task_bag *bag_for(struct task_bags_worker *w, uint64_t priority) {
  const uint64_t mode =
      atomic_load_explicit(&w->bags->mode, memory_order_relaxed);
  if (mode != w->mode) {
    adopt(w, mode);
  }
  const uint64_t end = task_bag_end(priority, w->lmf);
  struct task_bag **const recent =
      &w->recent[(priority >> w->lmf) % TASK_RECENT];
  struct task_bag *bag = *recent;
  if (!bag || bag->end != end || bag->lmf != w->lmf) {
    *recent = bag = task_directory_find(w, end);
  }
  return bag;
}

int task_bags_push(struct pems_sched_handle *h,
                   const struct task_record *record) {
  struct task_bags_worker *const w = h->state;
  struct task_bag *const bag = bag_for(w, record->priority);
  if (!bag) {
    return no_memory(w);
  }
  struct task_chunk *chunk = bag->filling[w->thread];
  if (!chunk || chunk->n == chunk->most) {
    chunk = make_room(w, bag);
    if (!chunk) {
      return no_memory(w);
    }
  }
  const uint64_t *const from = (const uint64_t *)(const void *)record;
  uint64_t *const to = (uint64_t *)(void *)record_at(w, chunk, chunk->n);
  const size_t words = h->sched->stride / sizeof(uint64_t);
  for (size_t i = 0; i < words; i++) {
    to[i] = from[i];
  }
  chunk->n++;
  if (w->bags->adjust) {
    note_priority(w, record->priority);
  }
  if (bag->end < task_search_start(w)) {
    task_search_set_start(w, bag->end);
    w->better = bag;
  }
  return 0;
}

/* --- taking --- */

/* Leaves the rest of the chunk that is popped to its bag. */
static void put_away(struct task_bags_worker *w) {
  struct task_chunk *const chunk = w->chunk;
  w->chunk = NULL;
  if (!chunk) {
    return;
  }
  if (chunk->at == chunk->n) {
    task_chunk_free(w->part, chunk);
  } else if (!w->bag->filling[w->thread]) {
    w->bag->filling[w->thread] = chunk;
  } else {
    task_bag_put(w->bag, w->domain, chunk);
  }
}

/* Another chunk, when that of the thread has nothing left or there is better.
 */
static struct task_chunk *next_chunk(struct task_bags_worker *w) {
  put_away(w);
  if (w->better) {
    task_search_come_to(w, w->better);
    w->better = NULL;
  }
  struct task_chunk *chunk = w->bag ? task_search_grab(w, w->bag) : NULL;
  if (!chunk) {
    if (task_search_all(w, &chunk)) {
      no_memory(w);
    }
  } else if (w->bags->adjust) {
    w->bags->adjust(w, 0);
  }
  w->chunk = chunk;
  return chunk;
}

static void tell(const struct task_bags_worker *w, struct task_chunk *chunk,
                 uint32_t i, int step) {
  const struct pems_sched_handle *const h = w->handle;
  if (i < chunk->n) {
    h->ahead(h->ahead_arg, record_at(w, chunk, i)->task, step);
  }
}

/* Of a chunk that has just come. */
static void tell_first(const struct task_bags_worker *w,
                       struct task_chunk *chunk) {
  for (uint32_t i = 1; i < FAR; i++) {
    tell(w, chunk, chunk->at + i, 0);
  }
  for (uint32_t i = 1; i < NEAR; i++) {
    tell(w, chunk, chunk->at + i, 1);
  }
}

const struct task_record *task_bags_take(struct pems_sched_handle *h) {
  struct task_bags_worker *const w = h->state;
  struct task_chunk *chunk = w->chunk;
  if (w->bags->adjust) {
    task_bags_count(&w->dequeues);
  }
  if (!chunk || chunk->at == chunk->n || w->better) {
    chunk = next_chunk(w);
    if (!chunk) {
      return NULL;
    }
    if (h->ahead) {
      tell_first(w, chunk);
    }
  }
  if (h->ahead) {
    tell(w, chunk, chunk->at + FAR, 0);
    tell(w, chunk, chunk->at + NEAR, 1);
  }
  w->bag_pops++;
  return record_at(w, chunk, chunk->at++);
}

/* --- making --- */

int task_bags_open(struct pems_sched *s, task_bags_adjust_fn *adjust, int lmf,
                   uint64_t limit, struct pems_error *error) {
  struct task_bags *b = native_aligned(TASK_LINE, sizeof(*b));
  if (!b) {
    return task_no_memory(error);
  }
  memset(b, 0, sizeof(*b));
  s->state = b;
  b->sched = s;
  b->adjust = adjust;
  atomic_store_explicit(&b->mode, (uint64_t)lmf, memory_order_relaxed);
  lock_init(&b->making, LOCK_TASK_BAGS);
  b->worker = native_zalloc((size_t)s->threads, sizeof(*b->worker));
  b->domains = task_domains_find(s->options.domains);
  b->pool = task_pool_new(s->stride, s->options.chunk, limit);
  b->domain_count = b->domains ? task_domains_count(b->domains) : 1;
  b->oldest = native_aligned(64, task_bag_bytes(s->threads, b->domain_count));
  if (!b->worker || !b->domains || !b->pool || !b->oldest) {
    return task_no_memory(error);
  }
  b->newest = task_bag_make(b->oldest, 0, lmf, s->threads, b->domain_count);
  return 0;
}

void task_bags_close(struct pems_sched *s) {
  struct task_bags *b = s->state;
  if (!b) {
    return;
  }
  task_pool_free(b->pool);
  task_domains_free(b->domains);
  native_free(b->oldest);
  native_free(b->worker);
  lock_destroy(&b->making);
  native_free(b);
  s->state = NULL;
}

int task_bags_join(struct pems_sched_handle *h, struct pems_error *error) {
  struct task_bags *const b = h->sched->state;
  struct task_bags_worker *w = native_aligned(TASK_LINE, sizeof(*w));
  if (!w) {
    return task_no_memory(error);
  }
  memset(w, 0, sizeof(*w));
  h->state = w;
  b->worker[h->thread] = w;
  w->bags = b;
  w->handle = h;
  w->thread = h->thread;
  w->domain = task_domains_of(b->domains, h->thread, h->sched->threads);
  w->seen = b->oldest;
  task_search_set_start(w, UINT64_MAX);
  adopt(w, atomic_load_explicit(&b->mode, memory_order_relaxed));
  w->part = task_pool_join(b->pool);
  return w->part ? 0 : task_no_memory(error);
}

void task_bags_leave(struct pems_sched_handle *h) {
  struct task_bags_worker *w = h->state;
  if (!w) {
    return;
  }
  task_map_free(&w->map);
  task_map_free(&w->retired);
  task_pool_leave(w->part);
  native_free(w);
  h->state = NULL;
}

void task_bags_bind(struct pems_sched_handle *h) {
  const struct task_bags_worker *const w = h->state;
  task_domains_bind(w->bags->domains, w->domain);
}

void task_bags_counts(const struct pems_sched *s, struct pems_sched_counts *c) {
  const struct task_bags *const b = s->state;
  for (int t = 0; t < s->threads; t++) {
    c->synchronizing += b->worker[t]->total_synchronizing;
    c->stolen += b->worker[t]->stolen;
  }
  c->bags = b->made;
  c->lmf = task_mode_lmf(atomic_load_explicit(&b->mode, memory_order_relaxed));
  c->memory = c->memory_most = task_pool_bytes(b->pool);
}

const struct task_overflow_bags task_bags_overflow = {
    .catch_up = task_directory_catch_up,
    .publish = task_search_publish,
    .come_back = task_search_come_back,
    .grab = task_search_grab};
