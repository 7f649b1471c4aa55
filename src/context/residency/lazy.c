#define _GNU_SOURCE
#include "context/residency/lazy.h"

#include "base/limit.h"
#include "base/message.h"
#include "base/self.h"
#include "context/internal.h"
#include "context/residency/density.h"
#include "context/residency/lesson.h"
#include "context/residency/prediction.h"
#include "context/residency/stay.h"
#include "context/residency/way.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/lock.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* <linux/mman.h> of Linux 5.14. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
  UNIT = PREDICTION_UNIT,
  /* Less than this is read, not mapped. */
  LEAST = 256 << 10,
  /* Each mapped piece takes two of the process's mappings. */
  MOST_PIECES = 128,
  /* The same where all that is touched is to be counted: the system allows
     65530 mappings by default. */
  MOST_PIECES_COUNTED = 1024,
  /* Of all contexts: others need mappings, too. */
  MOST_PIECES_OF_ALL = 8192,
  SITES = 1024,
  /* One part in so many of a huge page may be read for nothing, for the sake of
     the rest: small pages come at a third of the rate of a huge one, scattered
     as they lie in memory, and have to be cleared. */
  WASTED = 2,
  /* Reading pages one by one takes as long as reading so many times as much in
     2 MiB each. */
  SINGLE = 25,
  /* Residences at a site until single pages are tried again. */
  FIRST_REST = 8,
  MOST_REST = 256,
};

/* How programs touch pages after they have waited at one place: all ranks run
   the same program. */
struct site {
  uintptr_t key;
  bool random;              /* here and there: read single pages */
  unsigned rest, last_rest; /* residences until that may be so again */
};

static enum option_swapin mode;
static atomic_size_t pieces; /* that are mapped, of all contexts */
static struct site sites[SITES];
static struct lock sites_lock = LOCK_INITIALIZER(LOCK_LAZY_SITES);

void lazy_start(enum option_swapin wanted) {
  mode = wanted;
  atomic_store(&pieces, 0);
  memset(sites, 0, sizeof(sites));
  way_start();
}

/* Locked. Another site in the same place is forgotten. */
static struct site *site_at_locked(uintptr_t key) {
  struct site *s = &sites[site_slot(key, SITES)];
  if (s->key != key) {
    *s = (struct site){.key = key};
  }
  return s;
}

/* Are touches scattered at c's site? */
static bool is_random(const struct context *c) {
  if (mode == SWAPIN_PAGES) {
    return true;
  }
  lock_take(&sites_lock);
  const bool random = site_at_locked(c->site)->random;
  lock_give(&sites_lock);
  return random;
}

/* Is c to be mapped, with `bytes` on disk? */
static bool map_this_time(struct context *c, uint64_t bytes) {
  const struct context_lazy *const z = &c->lazy;
  if (mode == SWAPIN_PARTS) {
    return z->expected;
  }
  if (mode != SWAPIN_AUTO) {
    return true;
  }
  if (bytes < LEAST) {
    return false;
  }
  const bool ready = z->from->known || !prediction_possible(z->prediction);
  const bool map = way_choose(c->site, ready);
  stay_begin(c, map, ready, bytes);
  return map;
}

static void add(struct ranges *r, uintptr_t start, uintptr_t end) {
  /* Short of memory: less is known, nothing is lost. */
  (void)ranges_add(r, start, end);
}

/* Of [at, at + n), how much may be written alike: *usual, or not. */
static size_t usual_piece(const struct context *c, uintptr_t at, size_t n,
                          bool *usual) {
  int prot;
  n = protections_piece(&c->protections, at, at + n, &prot);
  *usual = prot == (PROT_READ | PROT_WRITE);
  return n;
}

/* Is a piece of n bytes to be mapped, beside those that are? */
static bool worth_mapping(const struct context_lazy *z, size_t n) {
  if (mode == SWAPIN_PAGES) {
    return z->mapped.n < MOST_PIECES_COUNTED;
  }
  return n >= LEAST && z->mapped.n < MOST_PIECES &&
         atomic_load(&pieces) < MOST_PIECES_OF_ALL;
}

/* [start, end) is read in advance; of that, `expected` will be written. */
static void expect(struct context_lazy *z, const struct ranges *expected,
                   uintptr_t start, uintptr_t end) {
  while (start < end) {
    bool written;
    const size_t n = ranges_piece(expected, start, end, &written);
    if (!written) {
      add(&z->quiet, start, start + n);
    }
    start += n;
  }
}

/* Is most of the huge page at `unit`, which is on disk, expected? */
static bool is_dense(const struct ranges *expected, const struct range *r,
                     uintptr_t unit) {
  const uintptr_t end = unit + HUGE_PAGE;
  size_t missing = 0;
  if (unit < r->start || end > r->end) {
    return false;
  }
  for (uintptr_t at = unit; at < end;) {
    bool known;
    const size_t n = ranges_piece(expected, at, end, &known);
    missing += known ? 0 : n;
    at += n;
  }
  return missing <= HUGE_PAGE / WASTED;
}

/* How much of r from `at` on is expected alike, or comes with that. */
static size_t expected_piece(const struct context *c, const struct range *r,
                             uintptr_t at, bool *known) {
  const struct ranges *const expected = c->lazy.expected;
  const size_t n = ranges_piece(expected, at, r->end, known);
  const uintptr_t unit = bits_align_down(at, HUGE_PAGE);
  const uintptr_t last = bits_align_down(at + n, HUGE_PAGE);
  if (!density_huge(c)) {
    return n;
  }
  if (is_dense(expected, r, unit)) {
    *known = true;
    return unit + HUGE_PAGE - at;
  }
  return !*known && last > at && is_dense(expected, r, last) ? last - at : n;
}

/* The parts of `pages` that are read at once: what was touched before, what is
   protected, and what is too small to be mapped. The rest goes to z->mapped. */
static void divide(struct context *c, const struct ranges *pages) {
  struct context_lazy *z = &c->lazy;
  for (size_t i = 0; i < pages->n; i++) {
    const struct range *r = &pages->item[i];
    for (uintptr_t at = r->start; at < r->end;) {
      bool known = false, usual;
      size_t n = z->predicting ? expected_piece(c, r, at, &known) : r->end - at;
      n = usual_piece(c, at, n, &usual);
      if (!known && usual && worth_mapping(z, n)) {
        add(&z->mapped, at, at + n);
      } else if (known) {
        expect(z, z->expected_written, at, at + n);
      }
      at += n;
    }
  }
}

/* It is read as a whole: what is not expected to be written is watched. */
static void read_all(struct context_lazy *z, const struct ranges *pages) {
  const struct ranges *expected;
  if (!z->prediction) {
    return;
  }
  const bool watched = prediction_watches(z->prediction, &expected);
  for (size_t i = 0; watched && i < pages->n; i++) {
    expect(z, expected, pages->item[i].start, pages->item[i].end);
  }
  prediction_unused(z->prediction);
  z->whole = watched ? ranges_total(pages) : 0;
  z->prediction = watched ? z->prediction : NULL;
}

static _Noreturn void map_failed(const struct context *c, int error) {
  char advice[LIMIT_TEXT];
  msg_fail_here(MSG_FAILED, "mapping a context: rank %d: %s: %s", c->rank,
                strerror(error),
                limit_advice(advice, LIMIT_MEMORY, error, c->range_len,
                             "give --pems-swapin=eager"));
}

static void map_piece(const struct context *c, const struct range *m,
                      bool random) {
  const int error = store_map_lazy(c, m->start, m->end, !random);
  if (error) {
    map_failed(c, error);
  }
}

/* Ranks run the same program. */
static void ask_others(const struct context *c, struct context_prediction *p) {
  if (p && !p->known) {
    (void)lessons_ask(c, p);
  }
}

static void tell_others(const struct context *c, struct context_prediction *p) {
  if (p && p->known) {
    lessons_tell(c, p);
  }
}

/* What is known of where its VP waits. */
static void look_up(struct context *c) {
  struct context_lazy *z = &c->lazy;
  if (mode == SWAPIN_PARTS) {
    z->expected = c->partial.expected.n ? &c->partial.expected : NULL;
    z->expected_written = &c->partial.rewritten;
    return;
  }
  z->place =
      c->place == c->site ? NULL : prediction_at(&z->predictions, c->place);
  z->prediction = prediction_at(&z->predictions, c->site);
  ask_others(c, z->prediction);
  ask_others(c, z->place);
  z->from = prediction_choose(z->prediction, z->place);
  z->expected = &z->from->touched;
  z->expected_written = &z->from->written;
}

void lazy_map(struct context *c, struct ranges *pages) {
  struct context_lazy *z = &c->lazy;
  ranges_clear(&z->mapped);
  ranges_clear(&z->quiet);
  z->mapped_bytes = 0;
  z->whole = 0;
  if (mode == SWAPIN_EAGER || !store_lazy()) {
    return;
  }
  look_up(c);
  if (!map_this_time(c, ranges_total(pages))) {
    read_all(z, pages);
    return;
  }
  z->predicting =
      mode == SWAPIN_PARTS || (z->from->known && mode != SWAPIN_PAGES);
  divide(c, pages);
  z->pieces = z->mapped.n;
  atomic_fetch_add(&pieces, z->pieces);
  const bool random = is_random(c);
  for (size_t i = 0; i < z->mapped.n; i++) {
    const struct range *m = &z->mapped.item[i];
    map_piece(c, m, random);
    if (ranges_remove(pages, m->start, m->end) != 0) {
      map_failed(c, ENOMEM);
    }
    z->mapped_bytes += m->end - m->start;
  }
}

/* Bytes that the system read for this thread. */
static uint64_t thread_read(void) {
  enum { BLOCK = 512 };
  struct rusage u;
  getrusage(RUSAGE_THREAD, &u);
  return (uint64_t)u.ru_inblock * BLOCK;
}

void lazy_run(struct context *c) {
  struct context_lazy *z = &c->lazy;
  stay_run(c);
  if (z->mapped_bytes) {
    z->read_before = thread_read();
    z->running = &self;
  }
}

void lazy_stop(struct context *c) {
  struct context_lazy *z = &c->lazy;
  stay_stop(c);
  if (z->running == &self) { /* not another thread of the rank */
    z->read += thread_read() - z->read_before;
  }
  z->running = NULL;
}

void lazy_found(struct context *c, uintptr_t start, uintptr_t end,
                bool written) {
  prediction_find(&c->lazy.found, start, end, written);
}

void lazy_wrote(struct context *c, uintptr_t start, uintptr_t end) {
  if (c->lazy.whole) {
    prediction_find(&c->lazy.found, start, end, true);
  }
}

const struct ranges *lazy_quiet(const struct context *c) {
  return &c->lazy.quiet;
}

uint64_t lazy_bytes_read(const struct context *c) {
  const struct context_lazy *z = &c->lazy;
  enum { BATCH = 4096 };
  unsigned char in[BATCH];
  uint64_t pages = 0;
  for (size_t i = 0; i < z->mapped.n; i++) {
    const struct range *m = &z->mapped.item[i];
    for (uintptr_t at = m->start; at < m->end; at += BATCH * PAGE) {
      const size_t left = (m->end - at) / PAGE;
      const size_t n = left < BATCH ? left : BATCH;
      if (mincore((void *)at, n * PAGE, in) == 0) {
        for (size_t j = 0; j < n; j++) {
          pages += in[j] & 1;
        }
      }
    }
  }
  return pages * PAGE > z->read ? pages * PAGE : z->read;
}

/* What was touched without a prediction tells about the site. Ranks that touch
   next to nothing there say little of one that goes on to touch all, and page
   by page that takes very long. */
static void learn_site_locked(struct site *s, const struct context_lazy *z) {
  if (s->random && z->read > z->mapped_bytes / SINGLE) {
    s->last_rest = back_off(s->last_rest, FIRST_REST, MOST_REST);
    s->rest = s->last_rest;
    s->random = false;
  } else if (s->rest) {
    s->rest--;
  } else {
    s->random = prediction_scattered(&z->found) &&
                z->found.bytes < z->mapped_bytes / SINGLE;
  }
}

static void learn_site(const struct context_lazy *z) {
  if (z->found.bytes) {
    lock_take(&sites_lock);
    learn_site_locked(site_at_locked(z->prediction->site), z);
    lock_give(&sites_lock);
  }
}

/* Decides what to read in advance the next time from what was found. */
static void learn_touched(struct context *c) {
  struct context_lazy *const z = &c->lazy;
  if (z->predicting && z->from == z->place) {
    prediction_lent(z->prediction, z->place, &z->found);
  }
  if (z->predicting) {
    prediction_used(z->from, &z->found);
  } else if (z->mapped_bytes) {
    if (z->place) {
      prediction_measured_too(z->place, &z->found);
    }
    prediction_measured(z->prediction, &z->found);
    tell_others(c, z->place);
    tell_others(c, z->prediction);
  }
}

static void learn(struct context *c) {
  const struct context_lazy *const z = &c->lazy;
  if (!z->predicting && z->mapped_bytes) {
    learn_site(z);
  }
  if (mode != SWAPIN_PAGES) {
    learn_touched(c);
  }
}

void lazy_finish(struct context *c, bool surveyed) {
  struct context_lazy *z = &c->lazy;
  if (!z->prediction && !z->pieces && !z->mapped.n) {
    return;
  }
  if (surveyed && z->whole && z->prediction) {
    prediction_wrote(z->prediction, &z->found, z->whole);
  } else if (surveyed && z->prediction) {
    learn(c);
  }
  for (size_t i = 0; i < z->mapped.n; i++) {
    const struct range *m = &z->mapped.item[i];
    store_forget(c, m->start, m->end);
  }
  ranges_clear(&z->mapped);
  atomic_fetch_sub(&pieces, z->pieces);
  z->pieces = 0;
  prediction_forget(&z->found);
  z->mapped_bytes = z->whole = 0;
  z->prediction = NULL;
  z->read = 0;
  z->running = NULL;
}

void lazy_overwrite(struct context *c, uintptr_t start, uintptr_t end) {
  struct context_lazy *z = &c->lazy;
  for (uintptr_t at = start; at < end;) {
    bool mapped;
    const size_t n = ranges_piece(&z->mapped, at, end, &mapped);
    if (mapped && n >= UNIT) {
      if (ranges_remove(&z->mapped, at, at + n) != 0 ||
          ranges_remove(&c->partial.missing, at, at + n) != 0 ||
          store_outdated(c, at, at + n) != 0 ||
          mmap((void *)at, n, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
               0) == MAP_FAILED) {
        map_failed(c, ENOMEM);
      }
    }
    at += n;
  }
}

static void copy_privately(uintptr_t start, uintptr_t end) {
  void *p = (void *)start;
  (void)madvise(p, end - start, MADV_NORMAL); /* reads ahead */
  if (madvise(p, end - start, MADV_POPULATE_WRITE) == 0) {
    return;
  }
  for (uintptr_t at = start; at < end; at += PAGE) { /* before Linux 5.14 */
    (void)__atomic_fetch_or((char *)at, 0, __ATOMIC_RELAXED);
  }
}

/* What is protected was copied before that. */
static void copy_unprotected(const struct context *c, uintptr_t start,
                             uintptr_t end) {
  while (start < end) {
    bool usual;
    const size_t n = usual_piece(c, start, end - start, &usual);
    if (usual) {
      copy_privately(start, start + n);
    }
    start += n;
  }
}

void lazy_copy(struct context *c, uintptr_t start, uintptr_t end) {
  for (uintptr_t at = start; at < end;) {
    bool mapped;
    const size_t n = ranges_piece(&c->lazy.mapped, at, end, &mapped);
    if (mapped) {
      copy_unprotected(c, at, at + n);
    }
    at += n;
  }
}

void lazy_settle(struct context *c) {
  lock_take(&c->io_lock);
  for (size_t i = 0; c->state == CONTEXT_IN && i < c->lazy.mapped.n; i++) {
    copy_unprotected(c, c->lazy.mapped.item[i].start,
                     c->lazy.mapped.item[i].end);
  }
  lock_give(&c->io_lock);
}

void lazy_free(struct context *c) {
  ranges_free(&c->lazy.mapped);
  predictions_free(&c->lazy.predictions);
  ranges_free(&c->lazy.quiet);
  prediction_found_free(&c->lazy.found);
}

void lazy_end(void) {
  lessons_clear();
}
