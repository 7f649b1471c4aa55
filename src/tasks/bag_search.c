#include "tasks/bag_search.h"

#include <errno.h>
#include <stdbool.h>

#include "tasks/bag_directory.h"
#include "tasks/overflow.h"

/* Each so manieth search in vain a thread looks at all bags, not only from
   where others say that they have left nothing. */
#define PATIENCE 64
/* Empty bags that a search may pass for the sake of other threads, and the most
   searches that do without that after more were passed. */
#define PASSED 32
#define PENALTY 64

static void look_from(struct task_bags_worker *w, uint64_t end) {
  if (end < task_search_start(w)) {
    task_search_set_start(w, end);
  }
}

int task_search_come_back(struct task_bags_worker *w, struct task_bag *bag) {
  look_from(w, bag->end);
  return task_directory_relist(w, bag);
}

void task_search_publish(struct task_bags_worker *w, struct task_bag *bag,
                         struct task_chunk *chunk) {
  task_bag_put(bag, w->domain, chunk);
  look_from(w, bag->end);
}

/* What other domains have. */
static struct task_chunk *steal(struct task_bags_worker *w,
                                struct task_bag *bag) {
  const int n = w->bags->domain_count;
  for (int i = 1; i < n; i++) {
    struct task_chunk *chunk = task_bag_take(bag, (w->domain + i) % n);
    if (chunk) {
      w->stolen++;
      return chunk;
    }
  }
  return NULL;
}

struct task_chunk *task_search_grab(struct task_bags_worker *w,
                                    struct task_bag *bag) {
  const bool any = task_bag_any(bag);
  struct task_chunk *chunk = any ? task_bag_take(bag, w->domain) : NULL;
  if (chunk) {
    return chunk;
  }
  chunk = bag->filling[w->thread];
  if (chunk) {
    bag->filling[w->thread] = NULL;
    return chunk;
  }
  return any ? steal(w, bag) : NULL;
}

static bool looks_at_all(const struct task_bags_worker *w) {
  return w->misses % PATIENCE == PATIENCE - 1;
}

/* Where there may be tasks at the earliest. */
static uint64_t first_start(const struct task_bags_worker *w) {
  uint64_t first = task_search_start(w);
  if (looks_at_all(w)) {
    return 0;
  }
  for (int t = 0; t < w->bags->sched->threads; t++) {
    const uint64_t start = task_search_start(w->bags->worker[t]);
    first = start < first ? start : first;
  }
  return first;
}

/* How a search ended that passed so many empty bags where the worker itself
   would not have looked. */
static void learn(struct task_bags_worker *w, unsigned passed, bool useful) {
  if (useful) {
    w->penalty = 0;
  } else if (passed > PASSED) {
    w->skip = w->penalty = w->penalty < PENALTY ? 2 * w->penalty + 1 : PENALTY;
  }
}

/* Looks at all bags in memory that end from `from` to `last`. */
static struct task_chunk *search(struct task_bags_worker *w, uint64_t from,
                                 uint64_t last) {
  const uint64_t own = task_search_start(w);
  const int lmf = task_mode_lmf(w->retired_mode);
  struct task_map_place at = task_map_seek(&w->map, from);
  unsigned passed = 0;
  for (struct task_bag *bag; (bag = task_map_next(&w->map, &at));) {
    if (bag->end > last) {
      return NULL;
    }
    struct task_chunk *chunk = task_search_grab(w, bag);
    if (chunk) {
      learn(w, passed, bag->end < own);
      task_search_come_to(w, bag);
      return chunk;
    }
    passed += bag->end < own;
    if (bag->lmf != lmf && bag->lmf != w->lmf) {
      task_directory_retire(w, bag, &at);
    }
  }
  return NULL;
}

/* The same to the end, where tasks may be on disk, too: these come before those
   in bags behind. */
static struct task_chunk *search_all(struct task_bags_worker *w,
                                     uint64_t from) {
  const struct task_overflow *const overflow = w->bags->overflow;
  if (!overflow) {
    return search(w, from, UINT64_MAX);
  }
  for (;;) {
    const uint64_t first = task_overflow_first(overflow);
    struct task_chunk *chunk = search(w, from, first);
    if (chunk || task_overflow_empty(overflow)) {
      return chunk;
    }
    if (task_overflow_fetch(w)) {
      return NULL;
    }
    from = from < first ? from : first;
  }
}

int task_search_all(struct task_bags_worker *w, struct task_chunk **found) {
  struct task_bags *const b = w->bags;
  struct task_chunk *chunk = NULL;
  *found = NULL;
  w->total_synchronizing++;
  if (b->adjust) {
    task_bags_count(&w->synchronizing);
    b->adjust(w, 1);
  }
  if (task_directory_catch_up(w) ||
      task_directory_reinstate(w, looks_at_all(w))) {
    return ENOMEM;
  }
  if (w->skip) {
    w->skip--;
    chunk = search_all(w, task_search_start(w));
  }
  if (!chunk) {
    chunk = search_all(w, first_start(w));
  }
  w->misses = chunk ? 0 : w->misses + 1;
  *found = chunk;
  return 0;
}
