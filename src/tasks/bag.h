/* A bag: tasks of one group of priorities, and its place in the order of all
   groups (section 4.2). */
#ifndef PEMS_TASKS_BAG_H
#define PEMS_TASKS_BAG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/spin.h"
#include "tasks/pool.h"

/* A queue of chunks that all threads may use, first in, first out. */
struct task_fifo {
  _Alignas(64) struct spin spin;
  _Atomic int any; /* not empty; read without the lock as a hint */
  struct task_chunk *first, *last;
};

/* A group of priorities is the pair (p >> lmf, lmf). It stands here as the last
   priority that it holds, p | (2^lmf - 1), and lmf: the queue that comes first
   by the paper's rule is the one that ends first, and of those with the same
   end the one with the smaller lmf. (Two groups either are disjoint, then the
   rule compares the smaller one's place in the larger one's unit, or one is
   part of the other, then the part comes first: it ends before, or at the same
   place with a smaller lmf.) So the order is one of two numbers. */
struct task_bag {
  uint64_t end;
  int lmf;
  int threads;
  _Atomic uint32_t chunks; /* in all FIFOs; a hint, and in the first line so
                              that an empty bag is passed at the cost of one */
  struct task_bag *_Atomic made_next; /* the bag that was made after this one */
  /* The chunk that a thread adds tasks to, for each; nobody else looks at it.
     Behind them, in lines of their own, a FIFO for each domain. */
  struct task_chunk *filling[];
};

static inline uint64_t task_bag_end(uint64_t priority, int lmf) {
  return priority | (((uint64_t)1 << lmf) - 1);
}

static inline bool task_bag_before(const struct task_bag *a, uint64_t end,
                                   int lmf) {
  return a->end < end || (a->end == end && a->lmf < lmf);
}

/* Bytes of a bag, a multiple of 64, which is its alignment. */
size_t task_bag_bytes(int threads, int domains);
/* Makes an empty bag in such memory. */
struct task_bag *task_bag_make(void *memory, uint64_t end, int lmf, int threads,
                               int domains);

static inline size_t task_bag_fifos_at(int threads) {
  const size_t n =
      sizeof(struct task_bag) + (size_t)threads * sizeof(struct task_chunk *);
  return (n + 63) / 64 * 64;
}

static inline struct task_fifo *task_bag_fifo(struct task_bag *bag,
                                              int domain) {
  return (struct task_fifo *)((unsigned char *)bag +
                              task_bag_fifos_at(bag->threads)) +
         domain;
}

/* Adds a chunk to a FIFO of the bag; takes the first one, NULL if there is
   none. */
void task_bag_put(struct task_bag *bag, int domain, struct task_chunk *chunk);
struct task_chunk *task_bag_take(struct task_bag *bag, int domain);
/* Whether there seems to be one in any FIFO. */
static inline bool task_bag_any(const struct task_bag *bag) {
  return atomic_load_explicit(&bag->chunks, memory_order_relaxed) != 0;
}

#endif
