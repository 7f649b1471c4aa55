/* Concurrent priority schedulers: many small tasks, run by threads roughly in
   the order of their priorities.

   The schedulers that Yesil, Heidarshenas, Morrison and Torrellas compare
   (Understanding Priority-Based Scheduling of Graph Algorithms on a
   Shared-Memory Platform, SC 2019), behind one interface. None of them runs
   tasks in strict order: they are for algorithms that are right in any order
   and faster in a good one. By name:
   - "obim": a bag for each priority >> delta, whose tasks move in chunks
     (section 2.2);
   - "pmod": obim that merges and unmerges priorities on demand (section 4):
     needs no tuning, and is what NULL stands for; can spill to disk;
   - "multiqueue": c p queues; a task goes to any, and comes from the better of
     two;
   - "reld": p queues; a task goes to any, and comes from the thread's own;
   - "spraylist": a lock-free skip list; a task comes from a random walk along
     its first ones.

   A priority is a number of 64 bits; the least comes first. pems_sched_real and
   pems_sched_fixed make one of a real number. */
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

/* Bytes of a task, at most; threads of a scheduler, at most. */
#define PEMS_SCHED_TASK_MOST 32
#define PEMS_SCHED_THREADS_MOST 1024

struct pems_sched;
/* What one thread uses a scheduler by. */
struct pems_sched_handle;

/* All fields but `task` may be 0 or NULL: then pems chooses. */
struct pems_sched_options {
  size_t size;   /* sizeof of this struct; 0: that of version 0.1 */
  size_t task;   /* bytes of a task, 1 to PEMS_SCHED_TASK_MOST */
  uint64_t seed; /* of what is random */
  int measure;   /* count cycles (Table 1), and note when lmf changed */
  int log;       /* note every push and pop, for pems_sched_rank_error */

  /* obim and pmod */
  int chunk;   /* tasks in a chunk, 1 to 4096; 0: 64 */
  int domains; /* FIFOs of each bag, among which threads are dealt; 0: NUMA
                  domains of the cores that the process may use (hwloc) */
  int delta;   /* obim: priorities are shifted right by this, 0 to 63 */

  /* pmod (section 5.1); 0: as there */
  double global_frequency; /* merging is considered when more than this fraction
                              of dequeues synchronizes; 0: 1 / chunk */
  int max_pops;    /* unmerging is considered when one bag gave more; 0: 4 chunk
                    */
  int min_density; /* tasks per bag that merging aims at; 0: 64 */
  int min_queues;  /* bags that unmerging aims at; 0: 16 */
  /* Bytes of memory for tasks; bags of the lowest priorities go to the disks
     beyond. 0: no limit, and no disks. */
  uint64_t memory;
  struct pems_disks *disks; /* stay the caller's; NULL: `scratch` is opened */
  struct pems_disks_options scratch;

  int queues; /* multiqueue: c, queues per thread; 0: 4 */
};

/* Names of all schedulers, the default first; NULL ends them. */
const char *const *pems_sched_kinds(void);

/* A scheduler without tasks, for `threads` (0: one per core that the process
   may use). EINVAL for what is wrong in the options, none, or no such kind;
   ENOMEM, where a limit of memory is too small, too (the text says how much is
   needed); and as pems_disks_open. On failure *sched is NULL. */
int pems_sched_new(struct pems_sched **sched, const char *kind, int threads,
                   const struct pems_sched_options *options,
                   struct pems_error *error);
/* Frees all, whatever is in it; no thread uses it any more. NULL is allowed. */
void pems_sched_free(struct pems_sched *sched);
/* p, and the name of its kind. */
int pems_sched_threads(const struct pems_sched *sched);
const char *pems_sched_kind(const struct pems_sched *sched);

/* The handle of thread 0 <= thread < p, NULL for any other number. Some tasks
   may be seen by one handle only (its own queue, a chunk that is not full): so
   somebody must pop from each, as pems_sched_run does. One thread at a time
   uses a handle, but different threads use different ones at once. Before
   pems_sched_run (and between two of them) any thread may push by any handle.
 */
struct pems_sched_handle *pems_sched_handle(struct pems_sched *sched,
                                            int thread);
/* The number it was asked for by. */
int pems_sched_thread(const struct pems_sched_handle *handle);

/* Adds a task, which is copied. ENOMEM if there is no memory, and what the
   disks said. A failure is lasting: pems_sched_pop and pems_sched_run then end.
 */
int pems_sched_push(struct pems_sched_handle *handle, const void *task,
                    uint64_t priority);
/* Takes a task: 1, with its bytes in `task`, and its priority in *priority
   (which may be NULL); or 0 if this thread found none now, though others may
   have or make some. The task that the handle had taken before is finished by
   this call. */
int pems_sched_pop(struct pems_sched_handle *handle, void *task,
                   uint64_t *priority);
/* True once every task that was pushed has been taken and is finished, or after
   a failure: nothing more will come, unless somebody pushes who runs no task.
   From any thread. */
int pems_sched_finished(const struct pems_sched *sched);
/* The first failure, 0 if there was none. */
int pems_sched_failure(const struct pems_sched *sched,
                       struct pems_error *error);

/* --- running --- */

/* How a task went: it brought the result on, or found that a better one was
   there already. For the counts only. */
enum pems_sched_work { PEMS_SCHED_GOOD, PEMS_SCHED_USELESS };

/* Runs one task, and may push others by the same handle. `task` (aligned to 8)
   lies in the scheduler until it returns. Called by p threads at once. */
typedef enum pems_sched_work pems_sched_fn(void *arg,
                                           struct pems_sched_handle *handle,
                                           const void *task, uint64_t priority);
/* Told about a task that this thread is likely to run soon, so that it can
   fetch into the caches what the task will need; `step` is 0 first, then 1 when
   it is nearer. Tasks may come without it, and not come after it: nothing but a
   hint.
   */
typedef void pems_sched_ahead_fn(void *arg, const void *task, int step);

struct pems_sched_run_options {
  size_t size; /* sizeof of this struct; 0: that of version 0.1 */
  pems_sched_fn *run;
  pems_sched_ahead_fn *ahead; /* NULL: nothing */
  void *arg;                  /* for both */
};

/* Runs all tasks, and those that they push, until none is left: the calling
   thread is thread 0, and p - 1 others are started, one for each handle. 0 or
   the first failure (EAGAIN: a thread could not be started). Tasks that are
   left after a failure stay. Not from a task, nor two at once. */
int pems_sched_run(struct pems_sched *sched,
                   const struct pems_sched_run_options *options,
                   struct pems_error *error);

/* --- counts --- */

/* A merge or unmerge of pmod. */
struct pems_sched_change {
  uint64_t popped; /* tasks that had been taken by all threads */
  uint64_t cycles; /* since the scheduler was made */
  int lmf;         /* the logarithm of the merging factor from then on */
};

struct pems_sched_counts {
  uint64_t pushed, popped; /* tasks */
  uint64_t useless;        /* tasks that told so */
  uint64_t failed;         /* pops that found none */
  uint64_t synchronizing; /* pops that had to look further than the bag that the
                             thread was at (obim, pmod) */
  uint64_t bags;          /* that were made (obim, pmod) */
  uint64_t stolen;        /* chunks from other domains (obim, pmod) */
  int lmf;                /* pmod: now */
  const struct pems_sched_change *changes; /* of lmf, until the scheduler is
                                              freed; with `measure` */
  size_t change_count;

  /* Table 1, in cycles of all threads; 0 without `measure`. */
  uint64_t good_work, useless_work, enqueue, dequeue, failed_dequeue, other;
  double cycles_per_second; /* of this machine's counter */

  /* pmod with a limit of memory */
  uint64_t memory;           /* bytes for tasks now */
  uint64_t memory_most;      /* and the most there were */
  uint64_t spilled, fetched; /* tasks that went to disk, and that came back */
  uint64_t waits;            /* for blocks that had not come yet */
  struct pems_disk_counts io;
};

/* What it has done so far; while nobody uses it. */
void pems_sched_counts(const struct pems_sched *sched,
                       struct pems_sched_counts *counts);

/* How far pops were from strict order: the rank of a pop is the number of tasks
   of smaller priority that were in the scheduler then. From the logs of all
   threads, merged by time; while nobody uses the scheduler. */
struct pems_sched_rank_error {
  uint64_t pops;
  uint64_t inverted; /* pops whose rank is not 0 */
  double mean;
  uint64_t median, p99, most;
};
/* EINVAL if it was made without `log`; ENOMEM. */
int pems_sched_rank_error(const struct pems_sched *sched,
                          struct pems_sched_rank_error *rank,
                          struct pems_error *error);

/* --- priorities from real numbers --- */

/* Keeps the order of all real numbers, -0 before 0, and infinities at the ends;
   NaN comes last. The bits of the number, of which the sign is turned (and all
   others where it is negative): so merging by powers of two, as pmod and delta
   do, merges numbers whose ratio is near 1. */
uint64_t pems_sched_real(double x);
/* x / unit, rounded down, plus 2^63; what does not fit is brought to the ends,
   and NaN comes last. So merging merges numbers whose difference is small.
   unit > 0. */
uint64_t pems_sched_fixed(double x, double unit);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
