/* Memory of blocks that other threads may still look at when they are given
   back: it is used again once none of them can (epochs: Fraser 2004). */
#ifndef PEMS_TASKS_RECLAIM_H
#define PEMS_TASKS_RECLAIM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks are of 1 to CPS_BLOCK_MOST cache lines, and begin with one. */
#define CPS_BLOCK_MOST 4
/* The bits of `link` that are the user's: once the block was given back they
   stay as they were, until it is taken again. */
#define CPS_BLOCK_BITS ((uintptr_t)63)

/* How a block begins. */
struct cps_block {
  _Atomic uintptr_t link;
};

/* What all threads share. */
struct cps_reclaim;
/* One thread's. */
struct cps_guard;

/* For some threads; NULL if there is no memory. */
struct cps_reclaim *cps_reclaim_new(int threads);
/* Frees all blocks. NULL is allowed. */
void cps_reclaim_free(struct cps_reclaim *reclaim);
struct cps_guard *cps_reclaim_guard(struct cps_reclaim *reclaim, int thread);
/* Bytes that were taken from the system. Thread-safe. */
size_t cps_reclaim_bytes(const struct cps_reclaim *reclaim);

/* What a thread can reach between these two stays what it is, even if another
   one gives it back meanwhile. They do not nest. */
void cps_guard_enter(struct cps_guard *guard);
void cps_guard_leave(struct cps_guard *guard);

/* A block of so many lines: `link` is 0, and the rest anything. NULL if there
   is no memory. */
void *cps_guard_take(struct cps_guard *guard, size_t lines);
/* Gives back a block that nobody can reach who enters from now on; between
   enter and leave. */
void cps_guard_give(struct cps_guard *guard, void *block, size_t lines);

#endif
