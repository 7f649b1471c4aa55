#include "sched/bag.h"

#include <string.h>

#include "sched/clock.h"

size_t cps_bag_bytes(int threads, int domains) {
  return cps_bag_fifos_at(threads) + (size_t)domains * sizeof(struct cps_fifo);
}

struct cps_bag *cps_bag_make(void *memory, uint64_t end, int lmf, int threads,
                             int domains) {
  struct cps_bag *bag = memory;
  memset(memory, 0, cps_bag_bytes(threads, domains));
  bag->end = end;
  bag->lmf = lmf;
  bag->threads = threads;
  return bag;
}

/* Held for a few instructions; but whoever holds it may have lost its core. */
static void lock(struct cps_fifo *f) {
  unsigned turn = 0;
  while (atomic_exchange_explicit(&f->locked, 1, memory_order_acquire))
    cps_relax(turn < 64 ? turn++ : turn);
}

static void unlock(struct cps_fifo *f) {
  atomic_store_explicit(&f->locked, 0, memory_order_release);
}

static void add_to_count(struct cps_fifo *f, uint32_t by) {
  const uint32_t n = atomic_load_explicit(&f->n, memory_order_relaxed);
  atomic_store_explicit(&f->n, n + by, memory_order_relaxed);
}

void cps_fifo_put(struct cps_fifo *f, struct cps_chunk *chunk) {
  chunk->next = NULL;
  lock(f);
  if (f->last)
    f->last->next = chunk;
  else
    f->first = chunk;
  f->last = chunk;
  add_to_count(f, 1);
  unlock(f);
}

struct cps_chunk *cps_fifo_take(struct cps_fifo *f) {
  if (!cps_fifo_any(f))
    return NULL;
  lock(f);
  struct cps_chunk *chunk = f->first;
  if (chunk) {
    f->first = chunk->next;
    if (!f->first)
      f->last = NULL;
    add_to_count(f, UINT32_MAX);
  }
  unlock(f);
  return chunk;
}
