/* How the memory of a priority queue is laid out. */
#ifndef PEMS_EM_PQUEUE_PQUEUE_PLAN_H
#define PEMS_EM_PQUEUE_PQUEUE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "em/kernel/kernel.h"
#include "pems/pqueue.h"

struct pqueue_plan {
  size_t block;                /* B in bytes */
  size_t unit;                 /* of the arena */
  size_t room_bytes;           /* of the arena */
  size_t least_bytes;          /* without which it does not work */
  size_t lane_records;         /* of each thread */
  size_t reserve_blocks;       /* for writing merged arrays: even */
  size_t heap, extract_buffer; /* bytes */
  size_t read_blocks;          /* read in advance, at most */
  int arrays;                  /* of a level in memory */
  int most_arrays; /* in all; there are slots for ARRAYS_SPARE more */
  size_t external_arrays, most_external; /* the same on disk */
  size_t pieces;                         /* that are merged at once, at most */
  size_t work_each;                      /* bytes of merging, for each thread */
};

/* Slots for what becomes an array on the way to the disk. */
enum { ARRAYS_SPARE = 4 };

/* Arrays that there may be on disk where so many blocks fit in memory: one of
   each takes half of it. */
size_t pqueue_plan_external(size_t blocks);

/* For options *o with memory, threads chosen. 0, or ENOMEM if the budget is too
   small. A pure function. */
int pqueue_plan(struct pqueue_plan *plan, const struct pems_pqueue_options *o,
                const struct kernel *kernel);

#endif
