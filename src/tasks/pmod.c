/* pmod: bags whose groups of priorities change while tasks run (section 4). */
#include <errno.h>
#include <string.h>

#include "os/lock.h"
#include "os/native.h"
#include "tasks/bags.h"
#include "tasks/kind.h"
#include "tasks/merge.h"
#include "tasks/overflow.h"

/* A window's dequeues, at most: so many times those of a thread that finds as
   many bags as unmerging aims at, each as full as merging wants it. */
#define WINDOW 4
/* Once bags take too much of the memory: the part that they may take more until
   they are merged again. */
#define CROWD_SHARE 32

struct pmod {
  struct task_merge_rule rule;
  /* Dequeues of a window: a chunk of them at first, then twice as many each
     time up to `most_dequeues`. */
  _Atomic uint64_t dequeues;
  uint64_t most_dequeues;
  /* With a limit of memory: bytes that bags may take before they are merged. */
  _Atomic uint64_t bag_bytes;
  struct lock lock; /* for the changes that are noted */
  struct pems_sched_change *change;
  size_t changes, room;
};

/* The sums over all threads that have come to this window. */
static struct task_observed observe(const struct task_bags *b,
                                    uint64_t window) {
  struct task_observed o = {.least = UINT64_MAX};
  for (int t = 0; t < b->sched->threads; t++) {
    const struct task_bags_worker *const w = b->worker[t];
    if (atomic_load_explicit(&w->window, memory_order_relaxed) != window) {
      continue;
    }
    o.enqueues += atomic_load_explicit(&w->enqueues, memory_order_relaxed);
    o.dequeues += atomic_load_explicit(&w->dequeues, memory_order_relaxed);
    o.synchronizing +=
        atomic_load_explicit(&w->synchronizing, memory_order_relaxed);
    const uint64_t least =
        atomic_load_explicit(&w->least, memory_order_relaxed);
    const uint64_t most = atomic_load_explicit(&w->most, memory_order_relaxed);
    o.least = least < o.least ? least : o.least;
    o.most = most > o.most ? most : o.most;
  }
  return o;
}

/* A note that finds no memory is left out: nothing depends on it. */
static void note_change(struct pmod *p, const struct task_bags *b, int lmf) {
  if (!b->sched->options.measure) {
    return;
  }
  uint64_t finished = 0;
  for (int t = 0; t < b->sched->threads; t++) {
    finished += atomic_load_explicit(&b->sched->handle[t].finished,
                                     memory_order_relaxed);
  }
  lock_take(&p->lock);
  if (p->changes == p->room) {
    const size_t room = p->room ? 2 * p->room : 16;
    struct pems_sched_change *grown =
        native_realloc(p->change, room * sizeof(*grown));
    if (grown) {
      p->change = grown;
      p->room = room;
    }
  }
  if (p->changes < p->room) {
    p->change[p->changes++] =
        (struct pems_sched_change){finished, cycle_now() - b->sched->born, lmf};
  }
  lock_give(&p->lock);
}

/* Whether bags, which cannot go to disk, take more than their part of a limit
   of memory: then there must be fewer, whatever else says. */
static int crowded(struct task_bags *b) {
  struct pmod *const p = b->pmod;
  if (!b->overflow) {
    return 0;
  }
  uint64_t most = atomic_load_explicit(&p->bag_bytes, memory_order_relaxed);
  if (task_pool_kept(b->pool) < most) {
    return 0;
  }
  const uint64_t more = most + b->sched->options.memory / CROWD_SHARE;
  return atomic_compare_exchange_strong_explicit(
      &p->bag_bytes, &most, more, memory_order_relaxed, memory_order_relaxed);
}

/* What lmf becomes where there are too many bags: one more is not enough where
   priorities are sparse, for each step would cost as many bags again. */
static int wider(const struct task_bags *b, const struct task_observed *o,
                 int lmf) {
  enum { MOST = 63 };
  const uint64_t bags = b->sched->options.memory / CROWD_SHARE /
                        task_bag_bytes(b->sched->threads, b->domain_count);
  const uint64_t range = o->most > o->least ? o->most - o->least : 0;
  int next = lmf < MOST ? lmf + 1 : lmf;
  while (next < MOST && range >> next > bags) {
    next++;
  }
  return next;
}

/* mergeCheck, then unmergeCheck, as sync_deq calls them: what lmf becomes. */
static int check(const struct task_bags_worker *w,
                 const struct task_observed *o, int lmf, int synchronizing) {
  const struct pmod *const p = w->bags->pmod;
  const int next = synchronizing ? task_merge_check(&p->rule, o, lmf) : lmf;
  return next != lmf ? next : task_unmerge_check(&p->rule, o, lmf, w->bag_pops);
}

/* One thread begins the next window; all others begin to count anew when they
   see it. */
static void next_window(struct task_bags *b, uint64_t mode, int lmf) {
  struct pmod *const p = b->pmod;
  const int before = task_mode_lmf(mode);
  const uint64_t next = ((mode >> 6) + 1) << 6 | (uint64_t)lmf;
  if (!atomic_compare_exchange_strong_explicit(
          &b->mode, &mode, next, memory_order_relaxed, memory_order_relaxed)) {
    return;
  }
  const uint64_t n =
      2 * atomic_load_explicit(&p->dequeues, memory_order_relaxed);
  atomic_store_explicit(&p->dequeues,
                        n < p->most_dequeues ? n : p->most_dequeues,
                        memory_order_relaxed);
  if (lmf != before) {
    note_change(p, b, lmf);
  }
}

/* Figure 3 looks for too long queues when a thread has come to the end of one.
   But where all that tasks push goes to the bag they come from, that is never:
   so unmerging is also considered between two chunks of a bag. */
static void adjust(struct task_bags_worker *w, int synchronizing) {
  struct task_bags *const b = w->bags;
  const struct pmod *const p = b->pmod;
  const uint64_t mode = atomic_load_explicit(&b->mode, memory_order_relaxed);
  const int lmf = task_mode_lmf(mode);
  if (mode != w->mode) {
    return; /* this thread has seen nothing in it yet */
  }
  if (!synchronizing && (!lmf || w->bag_pops <= p->rule.max_pops)) {
    return;
  }
  const struct task_observed o = observe(b, mode >> 6);
  if (crowded(b)) {
    next_window(b, mode, wider(b, &o, lmf));
  } else if (o.dequeues >=
             atomic_load_explicit(&p->dequeues, memory_order_relaxed)) {
    next_window(b, mode, check(w, &o, lmf, synchronizing));
  }
}

/* A thread that only pushes does not come to adjust, and a program may push all
   that it has before anybody takes: then each priority would get a bag, and
   whatever goes to disk would pass them all. */
static void bag_made(struct task_bags_worker *w) {
  struct task_bags *const b = w->bags;
  const uint64_t mode = atomic_load_explicit(&b->mode, memory_order_relaxed);
  if (mode == w->mode && crowded(b)) {
    const struct task_observed o = observe(b, mode >> 6);
    next_window(b, mode, wider(b, &o, task_mode_lmf(mode)));
  }
}

static int pmod_open(struct pems_sched *s, struct pems_error *error) {
  const struct pems_sched_options *const o = &s->options;
  uint64_t limit = 0;
  struct task_overflow *overflow = NULL;
  int code = o->memory ? task_overflow_open(&overflow, s, &task_bags_overflow,
                                            &limit, error)
                       : 0;
  if (code) {
    return code;
  }
  code = task_bags_open(s, adjust, 0, limit, error);
  struct task_bags *const b = s->state;
  struct pmod *p = b ? native_zalloc(1, sizeof(*p)) : NULL;
  if (!p) {
    task_overflow_close(overflow);
    return code ? code : task_no_memory(error);
  }
  p->rule = (struct task_merge_rule){o->global_frequency, (uint64_t)o->max_pops,
                                     (uint64_t)o->min_density,
                                     (uint64_t)o->min_queues};
  atomic_store_explicit(&p->dequeues, (uint64_t)o->chunk, memory_order_relaxed);
  p->most_dequeues =
      WINDOW * p->rule.min_density * p->rule.min_queues * (uint64_t)s->threads;
  atomic_store_explicit(&p->bag_bytes, o->memory / 8, memory_order_relaxed);
  lock_init(&p->lock, LOCK_TASK_PMOD);
  b->overflow = overflow;
  b->pmod = p;
  b->bag_made = bag_made;
  return code;
}

static void pmod_close(struct pems_sched *s) {
  struct task_bags *const b = s->state;
  if (!b) {
    return;
  }
  struct pmod *const p = b->pmod;
  task_overflow_close(b->overflow);
  if (p) {
    lock_destroy(&p->lock);
    native_free(p->change);
    native_free(p);
  }
  task_bags_close(s);
}

static void pmod_counts(const struct pems_sched *s,
                        struct pems_sched_counts *c) {
  const struct task_bags *const b = s->state;
  const struct pmod *const p = b->pmod;
  task_bags_counts(s, c);
  c->changes = p->change;
  c->change_count = p->changes;
  if (b->overflow) {
    task_overflow_counts(b->overflow, c);
  }
}

const struct task_kind task_pmod = {
    .name = "pmod",
    .open = pmod_open,
    .join = task_bags_join,
    .leave = task_bags_leave,
    .close = pmod_close,
    .push = task_bags_push,
    .take = task_bags_take,
    .bind = task_bags_bind,
    .counts = pmod_counts,
};
