#include "tasks/bag.h"

#include <string.h>

size_t task_bag_bytes(int threads, int domains) {
  return task_bag_fifos_at(threads) +
         (size_t)domains * sizeof(struct task_fifo);
}

struct task_bag *task_bag_make(void *memory, uint64_t end, int lmf, int threads,
                               int domains) {
  struct task_bag *bag = memory;
  memset(memory, 0, task_bag_bytes(threads, domains));
  bag->end = end;
  bag->lmf = lmf;
  bag->threads = threads;
  return bag;
}

void task_bag_put(struct task_bag *bag, int domain, struct task_chunk *chunk) {
  struct task_fifo *const f = task_bag_fifo(bag, domain);
  chunk->next = NULL;
  task_spin_lock(&f->spin);
  if (f->last) {
    f->last->next = chunk;
  } else {
    f->first = chunk;
  }
  f->last = chunk;
  atomic_store_explicit(&f->any, 1, memory_order_relaxed);
  /* Within the lock: the sum never misses a chunk that can be taken. */
  atomic_fetch_add_explicit(&bag->chunks, 1, memory_order_relaxed);
  task_spin_unlock(&f->spin);
}

struct task_chunk *task_bag_take(struct task_bag *bag, int domain) {
  struct task_fifo *const f = task_bag_fifo(bag, domain);
  if (!atomic_load_explicit(&f->any, memory_order_relaxed)) {
    return NULL;
  }
  task_spin_lock(&f->spin);
  struct task_chunk *chunk = f->first;
  if (chunk) {
    f->first = chunk->next;
    if (!f->first) {
      f->last = NULL;
      atomic_store_explicit(&f->any, 0, memory_order_relaxed);
    }
    atomic_fetch_sub_explicit(&bag->chunks, 1, memory_order_relaxed);
  }
  task_spin_unlock(&f->spin);
  return chunk;
}
