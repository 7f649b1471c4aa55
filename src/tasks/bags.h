/* Bags with priorities: what obim and pmod have in common (sections 2.2, 4.3).

   All bags are in one list in the order in which they were made, the global
   map; each thread has a sorted map of its own, which it brings up to date when
   it misses something. A thread stays with a bag until that has nothing for it;
   then it looks at the bags in order, from the first that any thread may have
   left. */
#ifndef PEMS_TASKS_BAGS_H
#define PEMS_TASKS_BAGS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "os/lock.h"
#include "tasks/bag.h"
#include "tasks/bag_map.h"
#include "tasks/domain.h"
#include "tasks/kind.h"
#include "tasks/pool.h"

/* Bags that a thread finds without its map. */
#define TASK_RECENT 256

struct task_bags_worker;
struct task_overflow;

/* Called by a thread whose bag has nothing left, before it looks further
   (`synchronizing`), and by one that goes on with another chunk of its bag. */
typedef void task_bags_adjust_fn(struct task_bags_worker *w, int synchronizing);

/* Called by a thread that has just made a bag. */
typedef void task_bags_made_fn(struct task_bags_worker *w);

struct task_bags {
  struct pems_sched *sched;
  struct task_domains *domains;
  int domain_count;
  struct task_pool *pool;
  struct task_bags_worker **worker; /* of each thread */
  task_bags_adjust_fn *adjust;      /* NULL: nothing */
  task_bags_made_fn *bag_made;      /* the same */
  struct task_overflow *overflow;   /* NULL: no limit of memory */
  void *pmod;                       /* pmod's own */
  /* The number of the window in which threads count << 6 | lmf. */
  _Alignas(TASK_LINE) _Atomic uint64_t mode;
  _Alignas(TASK_LINE) struct lock making;
  struct task_bag
      *oldest; /* so that the list is never empty: a bag not in use */
  struct task_bag *newest;
  uint64_t made;
};

struct task_bags_worker {
  struct task_bags *bags;
  struct pems_sched_handle *handle;
  struct task_pool_part *part;
  int thread, domain;
  /* What is popped: `chunk`, which is the thread's alone, of `bag`. */
  struct task_bag *bag;
  struct task_chunk *chunk;
  struct task_bag *better; /* one that comes before it got a task; or NULL */
  uint64_t bag_pops;       /* from that bag, since the thread came to it */
  /* What is pushed: */
  uint64_t mode;
  int lmf;
  struct task_bag *recent[TASK_RECENT];
  struct task_bag_map map;
  /* Empty bags of an lmf that is not in use: they would be passed by every
     search, among those that replaced them. */
  struct task_bag_map retired;
  uint64_t retired_mode; /* when they were looked at last */
  struct task_bag *seen; /* the newest bag that is in the map */
  unsigned misses;       /* searches in a row that found nothing */
  /* A thread that has lost its core leaves its scan_start behind, and all
     others would pass the same empty bags again and again: how many searches do
     not look there yet, and how many that are after the next one in vain. */
  unsigned skip, penalty;
  uint64_t total_synchronizing, stolen;
  /* Read by others. The thread may have left nothing in bags before this: */
  _Alignas(TASK_LINE) _Atomic uint64_t scan_start;
  /* In the window with this number: */
  _Atomic uint64_t window;
  _Atomic uint64_t enqueues, dequeues, synchronizing, least, most;
};

/* The functions of a kind; `open` is called by the kind's own. */
int task_bags_open(struct pems_sched *sched, task_bags_adjust_fn *adjust,
                   int lmf, uint64_t limit, struct pems_error *error);
void task_bags_close(struct pems_sched *sched);
int task_bags_join(struct pems_sched_handle *handle, struct pems_error *error);
void task_bags_leave(struct pems_sched_handle *handle);
int task_bags_push(struct pems_sched_handle *handle,
                   const struct task_record *record);
const struct task_record *task_bags_take(struct pems_sched_handle *handle);
void task_bags_bind(struct pems_sched_handle *handle);
void task_bags_counts(const struct pems_sched *sched,
                      struct pems_sched_counts *counts);

/* --- for pmod and its overflow --- */

static inline int task_mode_lmf(uint64_t mode) {
  return (int)(mode & 63);
}

/* Counts that only their owner writes; others read them as they are now. */
static inline void task_bags_count(_Atomic uint64_t *n) {
  atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                        memory_order_relaxed);
}

/* What an overflow is opened with. */
extern const struct task_overflow_bags task_bags_overflow;

#endif
