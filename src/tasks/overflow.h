/* Tasks of the lowest priorities on disk, where memory is limited.

   When a thread needs a chunk and there is no memory, it packs the chunks of
   the last bags into a block, which goes to a disk. A block is known by the
   first bag in it, and comes back before anything of that bag or a later one is
   taken. While nothing is on disk this costs one comparison whenever a thread
   changes its bag. */
#ifndef PEMS_TASKS_OVERFLOW_H
#define PEMS_TASKS_OVERFLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <pems/sched.h>

struct task_bag;
struct task_bags;
struct task_bags_worker;
struct task_chunk;
struct task_overflow;

/* What the overflow needs of the bags. */
struct task_overflow_bags {
  /* Brings the worker's map up to date: 0 or ENOMEM. */
  int (*catch_up)(struct task_bags_worker *w);
  /* Adds a full chunk to a bag, for all to take; the worker will look there. */
  void (*publish)(struct task_bags_worker *w, struct task_bag *bag,
                  struct task_chunk *chunk);
  /* The worker will look at the bag, where it has tasks of its own. 0 or
     ENOMEM. */
  int (*come_back)(struct task_bags_worker *w, struct task_bag *bag);
  /* Takes a chunk of the bag that is not the one being popped: from the FIFOs,
     or the one the worker itself fills. NULL if there is none. */
  struct task_chunk *(*grab)(struct task_bags_worker *w, struct task_bag *bag);
};

/* Opens the disks, or takes those of the options. *limit is what is left of the
   options' memory for chunks and bags. ENOMEM where the memory is too little,
   and as pems_disks_open. On failure *overflow is NULL. */
int task_overflow_open(struct task_overflow **overflow,
                       const struct pems_sched *sched,
                       const struct task_overflow_bags *bags, uint64_t *limit,
                       struct pems_error *error);
void task_overflow_close(struct task_overflow *overflow);

/* The end of the first bag on disk; UINT64_MAX if there is none. */
uint64_t task_overflow_first(const struct task_overflow *overflow);
bool task_overflow_empty(const struct task_overflow *overflow);
/* A large chunk for the worker, after blocks of the last bags have been written
   if there was no memory for it, and beyond the limit if nothing was found that
   may go. NULL if there is none even so, or after a failure that the scheduler
   was told. */
struct task_chunk *task_overflow_chunk(struct task_bags_worker *w);
/* Brings the block with the first bag back, to the worker's domain. 0, or an
   errno value that the scheduler was told. */
int task_overflow_fetch(struct task_bags_worker *w);
void task_overflow_counts(const struct task_overflow *overflow,
                          struct pems_sched_counts *counts);

#endif
