/* How a thread looks for tasks in bags, in their order, from the first that any
   thread may have left. */
#ifndef PEMS_TASKS_BAG_SEARCH_H
#define PEMS_TASKS_BAG_SEARCH_H

#include <stdatomic.h>
#include <stdint.h>

#include "tasks/bags.h"

/* The thread may have left nothing in bags before this. */
static inline uint64_t task_search_start(const struct task_bags_worker *w) {
  return atomic_load_explicit(&w->scan_start, memory_order_relaxed);
}

/* Relaxed: a thread that sees it late looks in vain, and looks again. */
static inline void task_search_set_start(struct task_bags_worker *w,
                                         uint64_t end) {
  atomic_store_explicit(&w->scan_start, end, memory_order_relaxed);
}

static inline void task_search_come_to(struct task_bags_worker *w,
                                       struct task_bag *bag) {
  w->bag = bag;
  w->bag_pops = 0;
  task_search_set_start(w, bag->end);
}

/* A chunk of any bag, which the thread comes to: sync_deq of Figure 3. *found
   is NULL where there is none. 0 or ENOMEM. */
int task_search_all(struct task_bags_worker *w, struct task_chunk **found);

/* A chunk of the bag that is not the one being popped: from the FIFOs, or the
   one that the thread itself fills. NULL if there is none. */
struct task_chunk *task_search_grab(struct task_bags_worker *w,
                                    struct task_bag *bag);
/* Adds a full chunk to a bag, for all to take; the thread will look there. */
void task_search_publish(struct task_bags_worker *w, struct task_bag *bag,
                         struct task_chunk *chunk);
/* The thread will look at the bag, where it has tasks of its own. 0 or
   ENOMEM. */
int task_search_come_back(struct task_bags_worker *w, struct task_bag *bag);

#endif
