/* Memory of blocks that other threads may still look at when they are given
   back: it is used again once none of them can (epochs: Fraser 2004). */
#ifndef PEMS_TASKS_RECLAIM_H
#define PEMS_TASKS_RECLAIM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks are of 1 to TASK_BLOCK_MOST cache lines, and begin with one. */
#define TASK_BLOCK_MOST 4
/* The bits of `link` that are the user's: once the block was given back they
   stay as they were, until it is taken again. */
#define TASK_BLOCK_BITS ((uintptr_t)63)

/* How a block begins. */
struct task_block {
  _Atomic uintptr_t link;
};

/* What all threads share. */
struct task_reclaim;
/* One thread's. */
struct task_guard;

/* For some threads; NULL if there is no memory. */
struct task_reclaim *task_reclaim_new(int threads);
/* Frees all blocks. NULL is allowed. */
void task_reclaim_free(struct task_reclaim *reclaim);
struct task_guard *task_reclaim_guard(struct task_reclaim *reclaim, int thread);
/* Bytes that were taken from the system. Thread-safe. */
size_t task_reclaim_bytes(const struct task_reclaim *reclaim);

/* What a thread can reach between these two stays what it is, even if another
   one gives it back meanwhile. They do not nest. */
void task_guard_enter(struct task_guard *guard);
void task_guard_leave(struct task_guard *guard);

/* A block of so many lines: `link` is 0, and the rest anything. NULL if there
   is no memory. */
void *task_guard_take(struct task_guard *guard, size_t lines);
/* Gives back a block that nobody can reach who enters from now on; between
   enter and leave. */
void task_guard_give(struct task_guard *guard, void *block, size_t lines);

#endif
