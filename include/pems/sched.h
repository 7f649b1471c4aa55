/* SPDX-License-Identifier: BSD-3-Clause */
/* Concurrent priority schedulers: many small tasks, run by threads roughly in
   the order of their priorities.

   The schedulers that Yesil, Heidarshenas, Morrison and Torrellas compare
   (Understanding Priority-Based Scheduling of Graph Algorithms on a
   Shared-Memory Platform, SC 2019), behind one interface. None of them runs
   tasks in strict order: they are for algorithms that are correct in any order
   and faster in a good one. By name:
   - "obim": a bag for each priority >> delta, whose tasks move in chunks
     (section 2.2);
   - "pmod", the default: obim that merges and unmerges priorities on demand
     (section 4), so it needs no tuning; can spill to disk;
   - "multiqueue": c p queues; tasks are pushed to a random queue, and popped
     from the better of two;
   - "reld": p queues; tasks are pushed to a random queue, and popped from the
     thread's own;
   - "spraylist": a lock-free skip list; tasks are popped by a random walk along
     its first nodes.

   A priority is a 64-bit number; smaller numbers come first. pems_sched_real
   and pems_sched_fixed convert real numbers to priorities. */
#ifndef PEMS_SCHED_H
#define PEMS_SCHED_H

#include <stddef.h>
#include <stdint.h>

#include <pems/disk.h>
#include <pems/status.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Maximum bytes of a task and threads of a scheduler. */
#define PEMS_SCHED_TASK_MOST 32
#define PEMS_SCHED_THREADS_MOST 1024

struct pems_sched;
/* A thread's access to a scheduler. */
struct pems_sched_handle;

/* All fields but `task` may be 0 or NULL for a default. */
struct pems_sched_options {
  size_t size;   /* sizeof of this struct; 0: that of version 0.1 */
  size_t task;   /* bytes of a task, 1 to PEMS_SCHED_TASK_MOST */
  uint64_t seed; /* seed of random choices */
  int measure;   /* count cycles (Table 1) and record changes of lmf */
  int log;       /* record every push and pop, for pems_sched_rank_error */

  /* obim and pmod */
  int chunk;   /* tasks in a chunk, 1 to 4096; 0: 64 */
  int domains; /* FIFOs of each bag, to which threads are assigned; 0: NUMA
                  domains of the cores that the process may use (hwloc) */
  int delta;   /* obim: priorities are shifted right by this, 0 to 63 */

  /* pmod; defaults as in section 5.1 */
  double global_frequency; /* merging is considered if more than this fraction
                              of dequeues synchronizes; 0: 1 / chunk */
  int max_pops;    /* unmerging is considered if one bag gave more tasks; 0: 4
                      chunk */
  int min_density; /* tasks per bag that merging aims at; 0: 64 */
  int min_queues;  /* bags that unmerging aims at; 0: 16 */
  /* Bytes of memory for tasks; beyond that, bags of the lowest priorities are
     written to the disks. 0: no limit and no disks. */
  uint64_t memory;
  struct pems_disks *disks; /* stay the caller's; NULL: `scratch` is opened */
  struct pems_disks_options scratch;

  int queues; /* multiqueue: c, queues per thread; 0: 4 */
};

/* The names of all kinds of scheduler, the default first, NULL-terminated. */
const char *const *pems_sched_kinds(void);

/* Makes an empty scheduler for `threads` threads (0: one per core that the
   process may use). EINVAL: invalid or missing options, unknown kind. ENOMEM:
   no memory, or the limit is too small (the text says how much is needed). Also
   the errors of pems_disks_open. On failure *sched is NULL. */
int pems_sched_new(struct pems_sched **sched, const char *kind, int threads,
                   const struct pems_sched_options *options,
                   struct pems_error *error);
/* Frees the scheduler and the tasks in it. No thread may be using it. NULL is
   allowed. */
void pems_sched_free(struct pems_sched *sched);
/* The number of threads, p, and the name of the kind. */
int pems_sched_threads(const struct pems_sched *sched);
const char *pems_sched_kind(const struct pems_sched *sched);

/* The handle of a thread, 0 <= thread < p; NULL for any other number. Some
   tasks are visible to one handle only (in its own queue, or in a chunk that is
   not full), so tasks must be popped from every handle, as pems_sched_run does.
   A handle must not be used by two threads at once. Before pems_sched_run, and
   between two calls, any thread may push by any handle. */
struct pems_sched_handle *pems_sched_handle(struct pems_sched *sched,
                                            int thread);
/* The thread number of a handle. */
int pems_sched_thread(const struct pems_sched_handle *handle);

/* Adds a copy of a task. ENOMEM: no memory. Also errors of the disks. A failure
   is permanent: pems_sched_pop and pems_sched_run then end. */
int pems_sched_push(struct pems_sched_handle *handle, const void *task,
                    uint64_t priority);
/* Takes a task and returns 1, with its bytes in `task` and its priority in
   *priority (which may be NULL). Returns 0 if this thread has found none,
   although others may have or create some. The call also marks the task that
   the handle took before as finished. */
int pems_sched_pop(struct pems_sched_handle *handle, void *task,
                   uint64_t *priority);
/* True if every pushed task has been taken and is finished, or after a failure:
   no more tasks will come, unless they are pushed from outside a task. May be
   called from any thread. */
int pems_sched_finished(const struct pems_sched *sched);
/* Returns the first failure, or 0. */
int pems_sched_failure(const struct pems_sched *sched,
                       struct pems_error *error);

/* --- running --- */

/* Whether a task made progress or found that a better result was already there.
   Used for the counts only. */
enum pems_sched_work { PEMS_SCHED_GOOD, PEMS_SCHED_USELESS };

/* Runs one task; may push others by the same handle. `task` (aligned to 8) is
   valid until it returns. Called by p threads at once. */
typedef enum pems_sched_work pems_sched_fn(void *arg,
                                           struct pems_sched_handle *handle,
                                           const void *task, uint64_t priority);
/* Announces a task that this thread is likely to run soon, so that it can
   prefetch what the task will need; `step` is 0 first, then 1 when the task is
   nearer. Only a hint: tasks may run unannounced, and announced tasks may not
   run. */
typedef void pems_sched_ahead_fn(void *arg, const void *task, int step);

struct pems_sched_run_options {
  size_t size; /* sizeof of this struct; 0: that of version 0.1 */
  pems_sched_fn *run;
  pems_sched_ahead_fn *ahead; /* NULL: nothing */
  void *arg;                  /* for both */
};

/* Runs all tasks, and those that they push, until none is left. The calling
   thread is thread 0; p - 1 others are started, one per handle. Returns 0 or
   the first failure (EAGAIN: a thread could not be started). After a failure
   the remaining tasks stay in the scheduler. Must not be called from a task or
   by two threads at once. */
int pems_sched_run(struct pems_sched *sched,
                   const struct pems_sched_run_options *options,
                   struct pems_error *error);

/* --- counts --- */

/* A merge or unmerge of pmod. */
struct pems_sched_change {
  uint64_t popped; /* tasks taken so far by all threads */
  uint64_t cycles; /* since the scheduler was made */
  int lmf;         /* the logarithm of the merging factor from then on */
};

struct pems_sched_counts {
  uint64_t pushed, popped; /* tasks */
  uint64_t useless;        /* tasks that returned PEMS_SCHED_USELESS */
  uint64_t failed;         /* pops that found none */
  uint64_t synchronizing;  /* pops that had to look beyond the thread's current
                              bag (obim, pmod) */
  uint64_t bags;           /* bags created (obim, pmod) */
  uint64_t stolen;         /* chunks from other domains (obim, pmod) */
  int lmf;                 /* pmod: now */
  const struct pems_sched_change *changes; /* of lmf, until the scheduler is
                                              freed; with `measure` */
  size_t change_count;

  /* Table 1, in cycles of all threads; 0 without `measure`. */
  uint64_t good_work, useless_work, enqueue, dequeue, failed_dequeue, other;
  double cycles_per_second; /* of this machine's counter */

  /* pmod with a limit of memory */
  uint64_t memory;           /* bytes for tasks now */
  uint64_t memory_most;      /* and the peak */
  uint64_t spilled, fetched; /* tasks written to disk and read back */
  uint64_t waits;            /* waits for blocks not read yet */
  struct pems_disk_counts io;
};

/* Fills in the counts so far. No thread may be using the scheduler. */
void pems_sched_counts(const struct pems_sched *sched,
                       struct pems_sched_counts *counts);

/* How far pops were from strict order: the rank of a pop is the number of tasks
   of smaller priority that were in the scheduler then. Computed from the logs
   of all threads, merged by time. No thread may be using the scheduler. */
struct pems_sched_rank_error {
  uint64_t pops;
  uint64_t inverted; /* pops whose rank is not 0 */
  double mean;
  uint64_t median, p99, most;
};
/* EINVAL: the scheduler was made without `log`. ENOMEM: no memory. */
int pems_sched_rank_error(const struct pems_sched *sched,
                          struct pems_sched_rank_error *rank,
                          struct pems_error *error);

/* --- priorities from real numbers --- */

/* Preserves the order of all real numbers, with -0 before 0 and the infinities
   at the ends; NaN comes last. The result is the bits of the number with the
   sign inverted (and all other bits, too, if it is negative). Merging by powers
   of two, as pmod and delta do, therefore merges numbers whose ratio is near 1.
 */
uint64_t pems_sched_real(double x);
/* x / unit, rounded down, plus 2^63; values out of range are clamped, and NaN
   comes last. Merging therefore merges numbers whose difference is small. unit
   > 0. */
uint64_t pems_sched_fixed(double x, double unit);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
