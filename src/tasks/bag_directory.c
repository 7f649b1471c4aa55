#include "tasks/bag_directory.h"

#include <errno.h>

#include "os/lock.h"
#include "tasks/bags.h"

int task_directory_catch_up(struct task_bags_worker *w) {
  struct task_bag *bag;
  /* Acquire: the bag's fields were written before it was made known. */
  while (
      (bag = atomic_load_explicit(&w->seen->made_next, memory_order_acquire))) {
    if (task_map_add(&w->map, bag)) {
      return ENOMEM;
    }
    w->seen = bag;
  }
  return 0;
}

/* The bag before a place in a map goes to another one. 0 or ENOMEM. */
static int move_bag(struct task_bag_map *from, struct task_map_place *at,
                    struct task_bag_map *to, struct task_bag *bag) {
  if (task_map_add(to, bag)) {
    return ENOMEM;
  }
  task_map_remove(from, at);
  return 0;
}

int task_directory_relist(struct task_bags_worker *w,
                          const struct task_bag *bag) {
  struct task_map_place at = task_map_seek(&w->retired, bag->end);
  for (struct task_bag *b;
       (b = task_map_next(&w->retired, &at)) && b->end == bag->end;) {
    if (b == bag) {
      return move_bag(&w->retired, &at, &w->map, b);
    }
  }
  return 0;
}

static struct task_bag *make_bag(struct task_bags_worker *w, uint64_t end) {
  struct task_bags *const b = w->bags;
  const int threads = b->sched->threads;
  void *memory =
      task_pool_keep(w->part, task_bag_bytes(threads, b->domain_count));
  if (!memory) {
    return NULL;
  }
  struct task_bag *bag =
      task_bag_make(memory, end, w->lmf, threads, b->domain_count);
  atomic_store_explicit(&b->newest->made_next, bag, memory_order_release);
  b->newest = bag;
  b->made++;
  return bag;
}

struct task_bag *task_directory_find(struct task_bags_worker *w, uint64_t end) {
  struct task_bag *bag = task_map_find(&w->map, end, w->lmf);
  if (bag) {
    return bag;
  }
  bag = task_map_find(&w->retired, end, w->lmf);
  if (bag) {
    return task_directory_relist(w, bag) ? NULL : bag;
  }
  struct task_bags *const b = w->bags;
  const struct task_bag *made = NULL;
  lock_take(&b->making);
  int failed = task_directory_catch_up(w);
  if (!failed && !(bag = task_map_find(&w->map, end, w->lmf))) {
    made = bag = make_bag(w, end);
    failed = !bag || task_directory_catch_up(w);
  }
  lock_give(&b->making);
  if (made && b->bag_made) {
    b->bag_made(w);
  }
  return failed ? NULL : bag;
}

/* The bag that the worker comes from is never a retired one: the rest of a
   chunk may go back to it. */
void task_directory_retire(struct task_bags_worker *w, struct task_bag *bag,
                           struct task_map_place *at) {
  if (!move_bag(&w->map, at, &w->retired, bag) && w->bag == bag) {
    w->bag = NULL;
  }
}

int task_directory_reinstate(struct task_bags_worker *w, bool all) {
  const uint64_t mode =
      atomic_load_explicit(&w->bags->mode, memory_order_relaxed);
  if (mode == w->retired_mode && !all) {
    return 0;
  }
  w->retired_mode = mode;
  struct task_map_place at = task_map_seek(&w->retired, 0);
  for (struct task_bag *bag; (bag = task_map_next(&w->retired, &at));) {
    if ((all || bag->lmf == task_mode_lmf(mode)) &&
        move_bag(&w->retired, &at, &w->map, bag)) {
      return ENOMEM;
    }
  }
  return 0;
}
