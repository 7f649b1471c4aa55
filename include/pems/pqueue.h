/* A priority queue of more records than fit in memory.

   The bulk-parallel priority queue of Bingmann, Keh and Sanders, A
   Bulk-Parallel Priority Queue in External Memory with STXXL (SEA 2015).
   Smallest record first, in the order that the record's description gives (or
   largest, where it says descending); which of equal records comes first is not
   defined.

   There are three ways to use it, one after the other as often as one likes:
   - one record at a time: push, top, pop;
   - in bulk: pems_pqueue_bulk_push from many threads at once, between
     pems_pqueue_bulk_push_begin and _end; pems_pqueue_bulk_pop;
   - with a limit: pems_pqueue_limit_begin promises that nothing before a record
     L is pushed until pems_pqueue_limit_end, so that taking what is before L
     and pushing do not disturb each other.

   One thread at a time uses a queue, but for pems_pqueue_bulk_push. Different
   queues may be used by different threads, on the same disks, too. After an
   error every call that can fail fails with the same; then only
   pems_pqueue_free and the functions that tell something are of use. */
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

/* All fields but `record` may be 0 or NULL: then pems chooses. */
struct pems_pqueue_options {
  size_t size;               /* sizeof of this struct; 0: that of version 0.1 */
  struct pems_record record; /* `stable` is refused with EINVAL */
  uint64_t memory; /* M in bytes: all of pems's memory for this queue counts,
                      with the lists of blocks on disk (a record and 16 bytes
                      for each); 0: a quarter of what the cgroup or the machine
                      has */
  /* Where not NULL: `memory` bytes of the caller's, aligned to 64, that hold
     the records instead of memory of the queue's own, until pems_pqueue_free.
     Then no request is under way between two calls, so that the memory may move
     to a disk meanwhile, as that of a rank of pems does in an MPI call. */
  void *room;
  int threads; /* p, that sort and merge, and that may push at once; 0: one per
                  core */
  struct pems_disks *disks; /* stay the caller's; NULL: `scratch` is opened */
  struct pems_disks_options scratch;
  size_t block; /* B in bytes, a multiple of PEMS_DISK_UNIT; 0: by `memory` */
  size_t heap;  /* bytes of the insertion heap, at most; 0: what fits a cache */
  size_t extract_buffer; /* bytes that are merged at once for pops one by one;
                            0: by `memory` */
  size_t read_memory; /* bytes for blocks read in advance, at most; 0: half of
                         `memory` */
  int arrays; /* internal arrays of a level before they are merged; 0: 64 */
  int external_arrays; /* the same on disk; 0: by `memory` */
  enum pems_deal deal;
  uint64_t seed;      /* of the randomised dealing */
  const char *kernel; /* as for sorting, see pems_sort_kernels */
};

/* What a queue has done. */
struct pems_pqueue_counts {
  uint64_t pushed, popped; /* records */
  uint64_t most;           /* records in it at once */
  size_t block;            /* B in bytes */
  int disks, threads;      /* D, p */
  uint64_t memory;         /* the most bytes held at once */
  const char *kernel;
  uint64_t sorted_arrays;    /* internal arrays that pushed records became */
  uint64_t internal_merges;  /* levels of internal arrays merged */
  uint64_t flushes;          /* external arrays written */
  uint64_t external_merges;  /* levels of external arrays merged */
  uint64_t refills;          /* of the extract buffer */
  uint64_t hints, cancelled; /* blocks asked for in advance; and not needed
                                then, for a new array came */
  double flush_seconds;      /* waited in flushes and merges of levels */
  double cpu_seconds;        /* of the threads that sort and merge */
  struct pems_disk_counts io;
};

/* An empty queue. EINVAL for what is wrong in the options, ENOMEM if the budget
   is too small (the text says how much is needed), and as pems_disks_open. On
   failure *queue is NULL. Keeps a copy of *options. */
int pems_pqueue_new(struct pems_pqueue **queue,
                    const struct pems_pqueue_options *options,
                    struct pems_error *error);
/* Frees all, whatever is in it. NULL is allowed. */
void pems_pqueue_free(struct pems_pqueue *queue);

/* Bytes of memory without which no queue with these options works: enough for
   five times as many bytes on disk, where blocks have 16 records or more. For
   more, the lists of blocks need more memory; what is too much fails with
   ENOMEM. 0 if the options are wrong. */
uint64_t pems_pqueue_least_memory(const struct pems_pqueue_options *options);

/* Records in it; not during a bulk. */
uint64_t pems_pqueue_size(const struct pems_pqueue *queue);
/* True if there are none. */
int pems_pqueue_empty(const struct pems_pqueue *queue);

void pems_pqueue_counts(const struct pems_pqueue *queue,
                        struct pems_pqueue_counts *counts);

/* --- one by one --- */

/* Adds n records (aggregated pushes, where n > 1), which are copied. */
int pems_pqueue_push(struct pems_pqueue *queue, const void *records, size_t n,
                     struct pems_error *error);
/* The first record, until the next call of any other function; or NULL where
   there is none, or on failure (then *error is filled in; set error->code to 0
   before to tell). */
const void *pems_pqueue_top(struct pems_pqueue *queue,
                            struct pems_error *error);
/* Removes the first record, and copies it to `record` unless that is NULL.
   ENOENT if there is none, which is no lasting failure. */
int pems_pqueue_pop(struct pems_pqueue *queue, void *record,
                    struct pems_error *error);

/* --- in bulk (section 2) --- */

/* Until pems_pqueue_bulk_push_end only pems_pqueue_bulk_push is called.
   `estimate`: how many records will come; 0: unknown. */
int pems_pqueue_bulk_push_begin(struct pems_pqueue *queue, uint64_t estimate,
                                struct pems_error *error);
/* Adds n records. Thread-safe, as long as every thread gives a number of its
   own, 0 <= thread < p. Where several fail, all tell the first failure. */
int pems_pqueue_bulk_push(struct pems_pqueue *queue, int thread,
                          const void *records, size_t n,
                          struct pems_error *error);
/* All threads are done pushing. */
int pems_pqueue_bulk_push_end(struct pems_pqueue *queue,
                              struct pems_error *error);

/* Removes the first records, at most `max`, and puts them to `records` in
   order; *n is how many there were, fewer than max only if the queue is empty
   then. A record costs as much as by pems_pqueue_pop where there are few, and
   less where there are many. */
int pems_pqueue_bulk_pop(struct pems_pqueue *queue, void *records, size_t max,
                         size_t *n, struct pems_error *error);
/* The same for those before the record `limit` only; *more (may be NULL) is
   whether the queue holds others before it yet. */
int pems_pqueue_bulk_pop_limit(struct pems_pqueue *queue, const void *limit,
                               void *records, size_t max, size_t *n, int *more,
                               struct pems_error *error);

/* --- with a limit (section 2) --- */

/* Until pems_pqueue_limit_end only pems_pqueue_limit_* are called, and no
   record before *limit is pushed. `estimate`: how many will be; 0: unknown. */
int pems_pqueue_limit_begin(struct pems_pqueue *queue, const void *limit,
                            uint64_t estimate, struct pems_error *error);
/* As pems_pqueue_top, of the records before the limit: NULL if there are none
   left. */
const void *pems_pqueue_limit_top(struct pems_pqueue *queue,
                                  struct pems_error *error);
/* As pems_pqueue_pop, of the same. */
int pems_pqueue_limit_pop(struct pems_pqueue *queue, void *record,
                          struct pems_error *error);
/* As pems_pqueue_push; a record before the limit: EINVAL. May not be called
   from several threads. What limit_top returned stays valid. */
int pems_pqueue_limit_push(struct pems_pqueue *queue, const void *records,
                           size_t n, struct pems_error *error);
int pems_pqueue_limit_end(struct pems_pqueue *queue, struct pems_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
