#include "tasks/bag.h"

#include <string.h>

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

void cps_bag_put(struct cps_bag *bag, int domain, struct cps_chunk *chunk) {
  struct cps_fifo *const f = cps_bag_fifo(bag, domain);
  chunk->next = NULL;
  cps_spin_lock(&f->spin);
  if (f->last) {
    f->last->next = chunk;
  } else {
    f->first = chunk;
  }
  f->last = chunk;
  atomic_store_explicit(&f->any, 1, memory_order_relaxed);
  /* Within the lock: the sum never misses a chunk that can be taken. */
  atomic_fetch_add_explicit(&bag->chunks, 1, memory_order_relaxed);
  cps_spin_unlock(&f->spin);
}

struct cps_chunk *cps_bag_take(struct cps_bag *bag, int domain) {
  struct cps_fifo *const f = cps_bag_fifo(bag, domain);
  if (!atomic_load_explicit(&f->any, memory_order_relaxed)) {
    return NULL;
  }
  cps_spin_lock(&f->spin);
  struct cps_chunk *chunk = f->first;
  if (chunk) {
    f->first = chunk->next;
    if (!f->first) {
      f->last = NULL;
      atomic_store_explicit(&f->any, 0, memory_order_relaxed);
    }
    atomic_fetch_sub_explicit(&bag->chunks, 1, memory_order_relaxed);
  }
  cps_spin_unlock(&f->spin);
  return chunk;
}
