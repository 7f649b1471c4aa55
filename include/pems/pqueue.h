/* SPDX-License-Identifier: BSD-3-Clause */
/* A priority queue of more records than fit in memory.

   The bulk-parallel priority queue of Bingmann, Keh and Sanders, A
   Bulk-Parallel Priority Queue in External Memory with STXXL (SEA 2015).
   Smallest record first, in the order that the record's description gives (or
   largest first if it is descending); the order of equal records is undefined.

   There are three ways to use it, which may alternate:
   - one record at a time: push, top, pop;
   - in bulk: pems_pqueue_bulk_push from many threads at once, between
     pems_pqueue_bulk_push_begin and _end; pems_pqueue_bulk_pop;
   - with a limit: pems_pqueue_limit_begin promises that no record before L is
     pushed until pems_pqueue_limit_end, so popping records before L and pushing
     others do not interfere.

   Only pems_pqueue_bulk_push may be called by several threads at once.
   Different queues may be used by different threads, also on the same disks.
   After an error every call that can fail returns the same error; only
   pems_pqueue_free and the functions that return information are useful then.
 */
#ifndef PEMS_PQUEUE_H
#define PEMS_PQUEUE_H

#include <stddef.h>
#include <stdint.h>

#include <pems/disk.h>
#include <pems/record.h>
#include <pems/status.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pems_pqueue;

/* All fields but `record` may be 0 or NULL for a default. */
struct pems_pqueue_options {
  size_t size;               /* sizeof of this struct; 0: that of version 0.1 */
  struct pems_record record; /* `stable` is refused with EINVAL */
  uint64_t
      memory; /* M in bytes: all memory that pems uses for this queue, including
                 the lists of blocks on disk (a record and 16 bytes each); 0: a
                 quarter of the memory of the cgroup or machine */
  /* If not NULL: `memory` bytes of the caller, aligned to 64, in which the
     queue keeps its records until pems_pqueue_free instead of allocating
     memory. No request is then in progress between two calls, so the memory may
     be swapped out meanwhile, as that of a rank of pems is in an MPI call. */
  void *room;
  int threads; /* p, which sort and merge, and the most that may push at once;
                  0: one per core */
  struct pems_disks *disks; /* stay the caller's; NULL: `scratch` is opened */
  struct pems_disks_options scratch;
  size_t block; /* B in bytes, a multiple of PEMS_DISK_UNIT; 0: by `memory` */
  size_t heap; /* maximum size of the insertion heap in bytes; 0: what fits in a
                  cache */
  size_t
      extract_buffer; /* bytes merged at once for single pops; 0: by `memory` */
  size_t
      read_memory; /* maximum bytes of blocks read ahead; 0: half of `memory` */
  int arrays;      /* internal arrays of a level before it is merged; 0: 64 */
  int external_arrays; /* the same on disk; 0: by `memory` */
  enum pems_deal deal;
  uint64_t seed;      /* of the randomised dealing */
  const char *kernel; /* as for sorting, see pems_sort_kernels */
};

/* Statistics of a queue. */
struct pems_pqueue_counts {
  uint64_t pushed, popped; /* records */
  uint64_t most;           /* peak number of records in the queue */
  size_t block;            /* B in bytes */
  int disks, threads;      /* D, p */
  uint64_t memory;         /* the most bytes held at once */
  const char *kernel;
  uint64_t sorted_arrays;    /* internal arrays made of pushed records */
  uint64_t internal_merges;  /* levels of internal arrays merged */
  uint64_t flushes;          /* external arrays written */
  uint64_t external_merges;  /* levels of external arrays merged */
  uint64_t refills;          /* of the extract buffer */
  uint64_t hints, cancelled; /* blocks requested ahead; of these, cancelled
                                because a new array came first */
  double flush_seconds;      /* waiting in flushes and merges of levels */
  double cpu_seconds;        /* of the threads that sort and merge */
  struct pems_disk_counts io;
};

/* Makes an empty queue. EINVAL: invalid options. ENOMEM: the budget is too
   small (the text says how much is needed). Also the errors of pems_disks_open.
   On failure *queue is NULL. Keeps a copy of *options. */
int pems_pqueue_new(struct pems_pqueue **queue,
                    const struct pems_pqueue_options *options,
                    struct pems_error *error);
/* Frees the queue and what is in it. NULL is allowed. */
void pems_pqueue_free(struct pems_pqueue *queue);

/* Minimum memory in bytes of a queue with these options: enough for five times
   as many bytes on disk if blocks have 16 records or more. Larger queues need
   more memory for the lists of blocks, and fail with ENOMEM if it is not
   enough. 0 if the options are invalid. */
uint64_t pems_pqueue_least_memory(const struct pems_pqueue_options *options);

/* The number of records. Not during a bulk push. */
uint64_t pems_pqueue_size(const struct pems_pqueue *queue);
/* True if the queue is empty. Not during a bulk push. */
int pems_pqueue_empty(const struct pems_pqueue *queue);

void pems_pqueue_counts(const struct pems_pqueue *queue,
                        struct pems_pqueue_counts *counts);

/* --- one by one --- */

/* Adds copies of n records (an aggregated push if n > 1). */
int pems_pqueue_push(struct pems_pqueue *queue, const void *records, size_t n,
                     struct pems_error *error);
/* Returns the first record, valid until the next call of any other function;
   NULL if the queue is empty or on failure (which fills in *error: set
   error->code to 0 before the call to distinguish them). */
const void *pems_pqueue_top(struct pems_pqueue *queue,
                            struct pems_error *error);
/* Removes the first record and copies it to `record` unless that is NULL.
   ENOENT if the queue is empty; that error is not permanent. */
int pems_pqueue_pop(struct pems_pqueue *queue, void *record,
                    struct pems_error *error);

/* --- in bulk (section 2) --- */

/* Begins a bulk push: until pems_pqueue_bulk_push_end only
   pems_pqueue_bulk_push may be called. `estimate`: expected number of records;
   0: unknown. */
int pems_pqueue_bulk_push_begin(struct pems_pqueue *queue, uint64_t estimate,
                                struct pems_error *error);
/* Adds n records. Thread-safe if every thread passes a number of its own, 0 <=
   thread < p. If several calls fail, all return the first failure. */
int pems_pqueue_bulk_push(struct pems_pqueue *queue, int thread,
                          const void *records, size_t n,
                          struct pems_error *error);
/* Ends a bulk push. No other thread may still be pushing. */
int pems_pqueue_bulk_push_end(struct pems_pqueue *queue,
                              struct pems_error *error);

/* Removes up to `max` of the first records and stores them in `records` in
   order. *n becomes their number, which is less than max only if the queue is
   empty afterwards. For few records the cost per record is that of
   pems_pqueue_pop, for many it is less. */
int pems_pqueue_bulk_pop(struct pems_pqueue *queue, void *records, size_t max,
                         size_t *n, struct pems_error *error);
/* Like pems_pqueue_bulk_pop, restricted to records before `limit`. *more (may
   be NULL) says whether the queue still holds records before it. */
int pems_pqueue_bulk_pop_limit(struct pems_pqueue *queue, const void *limit,
                               void *records, size_t max, size_t *n, int *more,
                               struct pems_error *error);

/* --- with a limit (section 2) --- */

/* Sets a limit: until pems_pqueue_limit_end only pems_pqueue_limit_* may be
   called, and no record before *limit may be pushed. `estimate`: expected
   number of pushed records; 0: unknown. */
int pems_pqueue_limit_begin(struct pems_pqueue *queue, const void *limit,
                            uint64_t estimate, struct pems_error *error);
/* Like pems_pqueue_top, restricted to records before the limit: NULL if there
   are none left. */
const void *pems_pqueue_limit_top(struct pems_pqueue *queue,
                                  struct pems_error *error);
/* Like pems_pqueue_pop, restricted to records before the limit. */
int pems_pqueue_limit_pop(struct pems_pqueue *queue, void *record,
                          struct pems_error *error);
/* Like pems_pqueue_push; EINVAL if a record is before the limit. Not
   thread-safe. The result of pems_pqueue_limit_top stays valid. */
int pems_pqueue_limit_push(struct pems_pqueue *queue, const void *records,
                           size_t n, struct pems_error *error);
int pems_pqueue_limit_end(struct pems_pqueue *queue, struct pems_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
