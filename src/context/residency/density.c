#define _GNU_SOURCE
#include "context/residency/density.h"

#include "context/internal.h"
#include "os/bits.h"
#include "os/futex.h"
#include "os/lock.h"
#include "os/pages.h"
#include "os/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum {
  /* Units of 2 MiB that are touched before anything is concluded. */
  ENOUGH = 8,
  FIRST_PAUSE_MS = 2,
  LONGEST_PAUSE_MS = 64,
};

/* What was found in memory of contexts. */
struct tally {
  uint64_t bytes;
  uint64_t units; /* of 2 MiB, in which they lie */
  uintptr_t last; /* the end of the last of these units */
};

static struct {
  pthread_t thread;
  bool running;
  _Atomic uint32_t stop;
  _Atomic int found; /* enum context_density, of the program as a whole */
} density;

/* The first 2 MiB never are a huge page (swap.c). */
static void count(struct tally *t, const struct context *c, uintptr_t start,
                  uintptr_t end) {
  const uintptr_t first = (uintptr_t)c->range + HUGE_PAGE;
  const uintptr_t limit = (uintptr_t)c->range + c->range_len;
  start = start < first ? first : start;
  end = end < limit ? end : limit;
  if (start >= end) {
    return;
  }
  const uintptr_t unit = bits_align_down(start, HUGE_PAGE);
  const uintptr_t from = unit < t->last ? t->last : unit;
  const uintptr_t to = bits_align_up(end, HUGE_PAGE);
  t->bytes += end - start;
  t->units += to > from ? (to - from) / HUGE_PAGE : 0;
  t->last = to;
}

static enum context_density verdict(const struct tally *t) {
  if (t->units < ENOUGH) {
    return DENSITY_UNKNOWN;
  }
  return t->bytes >= t->units * (HUGE_PAGE / 2) ? DENSITY_DENSE
                                                : DENSITY_SPARSE;
}

void density_learn(struct context *c, const struct ranges *live) {
  struct tally t = {0};
  for (size_t i = 0; i < live->n; i++) {
    count(&t, c, live->item[i].start, live->item[i].end);
  }
  const enum context_density found = verdict(&t);
  if (found) {
    c->density = found;
    density.found = found;
  }
}

bool density_huge(const struct context *c) {
  const enum context_density of_all = density.found;
  const enum context_density own = c->density;
  const enum context_density known = own ? own : of_all;
  return known == DENSITY_DENSE || (!known && !density.running);
}

/* --- the program's first pages --- */

struct look {
  struct tally tally;
  const struct context *context;
};

static void see(void *arg, uintptr_t start, uintptr_t end, int flags) {
  struct look *const l = arg;
  if (!(flags & SURVEY_ZERO)) {
    count(&l->tally, l->context, start, end);
  }
}

static void look_at(struct look *l, struct context *c) {
  if (!c->adopted || !context_resident(c)) {
    return;
  }
  lock_take(&c->heap_lock);
  const uintptr_t top = (uintptr_t)heap_top(c->heap);
  lock_give(&c->heap_lock);
  const uintptr_t start = (uintptr_t)c->range + HUGE_PAGE;
  l->context = c;
  l->tally.last = 0;
  if (top > start) {
    pages_survey(start, bits_align_up(top, PAGE), see, l);
  }
}

/* Those that come in later ask for themselves. */
static void advise_all(void) {
  for (int i = 0; i < contexts.n; i++) {
    const struct context *const c = &contexts.item[i];
    if (c->range_len > HUGE_PAGE && density_huge(c)) {
      madvise(c->range + HUGE_PAGE, c->range_len - HUGE_PAGE, MADV_HUGEPAGE);
    }
  }
}

static void *watch(void *arg) {
  int pause = FIRST_PAUSE_MS;
  while (!density.stop && !density.found) {
    struct look look = {0};
    futex_shared_wait(&density.stop, 0, pause * (int64_t)1000000);
    for (int i = 0; i < contexts.n; i++) {
      look_at(&look, &contexts.item[i]);
    }
    int unknown = DENSITY_UNKNOWN;
    atomic_compare_exchange_strong(&density.found, &unknown,
                                   verdict(&look.tally));
    pause = 2 * pause < LONGEST_PAUSE_MS ? 2 * pause : LONGEST_PAUSE_MS;
  }
  advise_all();
  return arg;
}

int density_start(void) {
  const struct thread_options options = {.stack = 128 << 10, .faults = true};
  density.stop = 0;
  density.found = DENSITY_UNKNOWN;
  density.running = true;
  const int error = thread_start(&density.thread, watch, NULL, &options);
  density.running = !error;
  return error;
}

void density_stop(void) {
  if (density.running) {
    density.stop = 1;
    futex_shared_wake(&density.stop, 1);
    pthread_join(density.thread, NULL);
    density.running = false;
    density.found = DENSITY_UNKNOWN;
  }
}
