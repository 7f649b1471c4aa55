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

void cps_bag_put(struct cps_bag *bag, int domain, struct cps_chunk *chunk) {
  struct cps_fifo *const f = cps_bag_fifo(bag, domain);
  chunk->next = NULL;
  lock(f);
  if (f->last)
    f->last->next = chunk;
  else
    f->first = chunk;
  f->last = chunk;
  atomic_store_explicit(&f->any, 1, memory_order_relaxed);
  /* Within the lock: the sum never misses a chunk that can be taken. */
  atomic_fetch_add_explicit(&bag->chunks, 1, memory_order_relaxed);
  unlock(f);
}

struct cps_chunk *cps_bag_take(struct cps_bag *bag, int domain) {
  struct cps_fifo *const f = cps_bag_fifo(bag, domain);
  if (!atomic_load_explicit(&f->any, memory_order_relaxed))
    return NULL;
  lock(f);
  struct cps_chunk *chunk = f->first;
  if (chunk) {
    f->first = chunk->next;
    if (!f->first) {
      f->last = NULL;
      atomic_store_explicit(&f->any, 0, memory_order_relaxed);
    }
    atomic_fetch_sub_explicit(&bag->chunks, 1, memory_order_relaxed);
  }
  unlock(f);
  return chunk;
}
