#define _GNU_SOURCE
#include "context/residency/partial.h"

#include "base/counters.h"
#include "base/message.h"
#include "base/need.h"
#include "base/self.h"
#include "context/internal.h"
#include "context/late_frees.h"
#include "context/residency/changes.h"
#include "context/residency/density.h"
#include "context/residency/frames.h"
#include "context/residency/ledger.h"
#include "context/residency/track.h"
#include "context/residency/working_set.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/native.h"
#include "report/trace.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
  UNIT = WORKING_SET_UNIT,
  MAX_EXTENTS = 4096,
  MERGE = 128 << 10,
  /* Less is not worth mappings of its own. */
  LEAST = 64 << 10,
  /* Less is not worth a move. */
  LEAST_MOVE = 1 << 20,
  /* Each mapped piece takes two of the process's mappings: of a context, and of
     all. */
  MOST_PIECES = 128,
  MOST_PIECES_OF_ALL = 8192,
  /* Parts that a context gives up until what was written in vain is watched
     again. */
  TRIMS = 16,
};

static bool possible;
static atomic_size_t pieces; /* that are mapped, of all contexts */

static _Noreturn void no_memory(const struct context *c) {
  msg_fail_here(MSG_FAILED, "out of memory: moving pages of rank %d", c->rank);
}

static void add(const struct context *c, struct ranges *r, uintptr_t start,
                uintptr_t end) {
  if (ranges_add(r, start, end) != 0) {
    no_memory(c);
  }
}

static void leave(const struct context *c, struct ranges *r, uintptr_t start,
                  uintptr_t end) {
  if (ranges_remove(r, start, end) != 0) {
    no_memory(c);
  }
}

void partial_start(bool wanted) {
  possible =
      wanted && store_lazy() && pages_survey_full() && !track_by_faults();
}

static void count_pieces(struct context *c, size_t n) {
  atomic_fetch_add(&pieces, n - c->partial.pieces);
  c->partial.pieces = n;
}

static void count_mapped(struct context *c) {
  c->lazy.mapped_bytes = ranges_total(&c->lazy.mapped);
  count_pieces(c, c->lazy.mapped.n);
}

bool partial_possible(void) {
  return possible;
}

/* --- which pages --- */

/* Candidates to be given up: memory in use that is neither protected, nor
   missing, nor about to be overwritten. */
static void find_candidates(struct context *c, struct ranges *r) {
  struct heap_extent *const extent =
      need_alloc(MAX_EXTENTS * sizeof(*extent), "moving pages");
  lock_take(&c->heap_lock);
  const size_t n = heap_extents(c->heap, MERGE, extent, MAX_EXTENTS);
  lock_give(&c->heap_lock);
  for (size_t i = 0; i < n; i++) {
    add(c, r, (uintptr_t)extent[i].start,
        (uintptr_t)extent[i].start + extent[i].len);
  }
  native_free(extent);
  for (int i = 0; i < image_parts(&c->image); i++) {
    const struct image_part part = image_part(&c->image, i);
    if (!part.home && part.len >= LEAST && !image_part_is_stack(&c->image, i)) {
      add(c, r, bits_align_up((uintptr_t)part.data, PAGE),
          bits_align_down((uintptr_t)part.data + part.len, PAGE));
    } else if (part.home) {
      leave(c, r, (uintptr_t)part.home, (uintptr_t)part.home + part.len);
    }
  }
  const struct ranges *const no[] = {&c->partial.missing, &c->incoming,
                                     &c->protections};
  for (int k = 0; k < 3; k++) {
    for (size_t i = 0; i < no[k]->n; i++) {
      leave(c, r, bits_align_down(no[k]->item[i].start, PAGE),
            bits_align_up(no[k]->item[i].end, PAGE));
    }
  }
}

static void note_huge(void *arg, uintptr_t start, uintptr_t end, int flags) {
  if (flags & SURVEY_HUGE) {
    (void)ranges_add(arg, start, end);
  }
}

/* Whole grains of r with the level that they have, all of it. A huge page is
   one: what is left of it would keep its memory. */
static void visit_levels(struct context *c, const struct ranges *r,
                         void (*f)(void *arg, uintptr_t start, uintptr_t end,
                                   int level),
                         void *arg) {
  struct ranges huge = {0};
  for (size_t i = 0; i < r->n; i++) {
    const uintptr_t start = bits_align_up(r->item[i].start, UNIT);
    const uintptr_t end = bits_align_down(r->item[i].end, UNIT);
    if (start >= end) {
      continue;
    }
    ranges_clear(&huge);
    pages_survey(bits_align_down(start, HUGE_PAGE),
                 bits_align_up(end, HUGE_PAGE), note_huge, &huge);
    const size_t units = (end - start) / UNIT;
    uint8_t *const level = need_alloc(units, "moving pages");
    working_set_levels(c, start, level, units);
    for (uintptr_t at = start; at < end;) {
      bool is_huge;
      (void)ranges_piece(&huge, at, at + 1, &is_huge);
      const size_t g = is_huge ? HUGE_PAGE : (size_t)UNIT;
      const uintptr_t next = bits_align_down(at, g) + g;
      if (at % g || next > end) { /* a part of a huge page */
        at = next < end ? next : end;
        continue;
      }
      int least = CONTEXT_LEVELS;
      for (; at < next; at += UNIT) {
        const int l = level[(at - start) / UNIT];
        least = l < least ? l : least;
      }
      f(arg, next - g, next, least);
    }
    native_free(level);
  }
  ranges_free(&huge);
}

static void count(void *arg, uintptr_t start, uintptr_t end, int level) {
  struct context_plan *const plan = arg;
  plan->bytes[level] += end - start;
}

void partial_plan(struct context *c, struct context_plan *plan) {
  struct ranges r = {0};
  *plan = (struct context_plan){.made = true};
  lock_take(&c->io_lock);
  if (c->partial.set && c->lazy.mapped.n < MOST_PIECES &&
      atomic_load(&pieces) < MOST_PIECES_OF_ALL) {
    find_candidates(c, &r);
    visit_levels(c, &r, count, plan);
  }
  lock_give(&c->io_lock);
  ranges_free(&r);
}

int partial_level(const struct context *c) {
  uint64_t bytes = 0;
  for (int l = CONTEXT_LEVELS - 1; c->partial.plan.made && l >= 0; l--) {
    bytes += c->partial.plan.bytes[l];
    if (bytes >= LEAST_MOVE) {
      return l;
    }
  }
  return -1;
}

/* --- giving up --- */

struct selection {
  struct context *c;
  int level;
  int64_t left;
  struct ranges pages;
};

static void take(void *arg, uintptr_t start, uintptr_t end, int level) {
  struct selection *const s = arg;
  if (level >= s->level && s->left > 0) {
    s->left -= (int64_t)(end - start);
    add(s->c, &s->pages, start, end);
  }
}

/* Units that were watched and written are not worth watching. */
static void note_rewritten(struct context *c, const struct ranges *written) {
  for (size_t i = 0; i < written->n; i++) {
    const struct range *const r = &written->item[i];
    for (uintptr_t at = r->start; at < r->end;) {
      bool watched;
      const size_t n = ranges_piece(&c->partial.filled, at, r->end, &watched);
      if (watched) {
        (void)ranges_add(&c->partial.rewritten, bits_align_down(at, UNIT),
                         bits_align_up(at + n, UNIT));
      }
      at += n;
    }
  }
}

static void map_failed(const struct context *c, int error) {
  msg_fail_here(MSG_FAILED, "mapping a context: rank %d: %s", c->rank,
                strerror(error));
}

static void give_up(struct context *c, uintptr_t start, uintptr_t end) {
  struct context_lazy *const z = &c->lazy;
  const int error = store_map_lazy(c, start, end, true);
  if (error) {
    map_failed(c, error);
  }
  store_forget(c, start, end);
  add(c, &z->mapped, start, end);
  add(c, &c->partial.missing, start, end);
  leave(c, &c->partial.filled, start, end);
}

/* Pages that hold zeros, or never were there, are written with the others: the
   file is mapped in place of all. */
static void fill_gaps(const struct context *c, const struct ranges *pages,
                      struct changes *found) {
  for (size_t i = 0; i < pages->n; i++) {
    const struct range *const r = &pages->item[i];
    for (uintptr_t at = r->start; at < r->end;) {
      bool kept;
      const size_t n = ranges_piece(&found->keep, at, r->end, &kept);
      if (!kept) {
        add(c, &found->write, at, at + n);
        add(c, &found->keep, at, at + n);
      }
      at += n;
    }
  }
}

static void give_up_all(struct context *c, const struct ranges *pages) {
  for (size_t i = 0; i < pages->n; i++) {
    const struct range *const r = &pages->item[i];
    if (store_outdated(c, r->start, r->end) != 0) {
      no_memory(c);
    }
    store_wrote(c, r->start, r->end);
    give_up(c, r->start, r->end);
  }
}

void partial_trim(struct context *c, int level, uint64_t most) {
  const uint64_t begin = clock_ns();
  struct selection s = {.c = c, .level = level, .left = (int64_t)most};
  struct changes found = {0};
  struct ranges all = {0};
  lock_take(&c->io_lock);
  find_candidates(c, &all);
  visit_levels(c, &all, take, &s);
  changes_find_in(c, &s.pages, &found);
  fill_gaps(c, &s.pages, &found);
  const uint64_t bytes = store_swap_out(c, &found.write, &found.keep);
  if (++c->partial.trims % TRIMS == 0) {
    ranges_clear(&c->partial.rewritten);
  }
  note_rewritten(c, &found.write);
  give_up_all(c, &s.pages);
  count_mapped(c);
  lock_give(&c->io_lock);
  ranges_free(&all);
  ranges_free(&s.pages);
  ranges_free(&found.write);
  ranges_free(&found.keep);
  counter_add(swap_out, bytes);
  trace_move(c->index, true, begin, clock_ns(), bytes);
}

/* --- getting back --- */

/* Memory in place of the file's pages. */
static void make_room(struct context *c, uintptr_t start, uintptr_t end) {
  if (mmap((void *)start, end - start, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
           0) == MAP_FAILED) {
    map_failed(c, errno);
  }
  (void)madvise((void *)start, end - start,
                density_huge(c) ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  leave(c, &c->lazy.mapped, start, end);
  leave(c, &c->partial.missing, start, end);
}

static void take_frames(uintptr_t start, uintptr_t end) {
  start = bits_align_up(start, HUGE_PAGE);
  end = bits_align_down(end, HUGE_PAGE);
  while (start < end) {
    const size_t n = frames_give(&start, end);
    if (!n) {
      break;
    }
    start += n;
  }
}

static void watch(struct context *c, const struct ranges *pages) {
  struct ranges quiet = {0};
  if (ranges_add_all(&quiet, pages) != 0 ||
      ranges_remove_all(&quiet, &c->partial.rewritten) != 0) {
    no_memory(c);
  }
  for (size_t i = 0; i < quiet.n; i++) {
    const struct range *const r = &quiet.item[i];
    if (track_more(c, r->start, r->end)) {
      add(c, &c->partial.filled, r->start, r->end);
    }
  }
  ranges_free(&quiet);
}

void partial_fill(struct context *c) {
  const uint64_t begin = clock_ns();
  struct ranges pages = {0}, none = {0};
  lock_take(&c->io_lock);
  working_set_settle(c);
  (void)working_set_soon(c, &c->partial.missing, &pages);
  for (size_t i = 0; i < pages.n; i++) {
    const struct range *const r = &pages.item[i];
    make_room(c, r->start, r->end);
    store_forget(c, r->start, r->end);
    take_frames(r->start, r->end);
  }
  const uint64_t bytes = pages.n ? store_swap_in(c, &pages, &none) : 0;
  watch(c, &pages);
  count_mapped(c);
  lock_give(&c->io_lock);
  ranges_free(&pages);
  counter_add(swap_in, bytes);
  trace_move(c->index, false, begin, clock_ns(), bytes);
}

/* --- coming and going as a whole --- */

void partial_expect(struct context *c, const struct ranges *pages) {
  struct context_partial *const p = &c->partial;
  ranges_clear(&p->expected);
  if (possible && !working_set_soon(c, pages, &p->expected)) {
    ranges_clear(&p->expected);
  }
}

void partial_came(struct context *c) {
  if (possible) {
    (void)ranges_add_all(&c->partial.missing, &c->lazy.mapped);
  }
}

void partial_forget(struct context *c) {
  count_pieces(c, 0);
  ranges_clear(&c->partial.missing);
  ranges_clear(&c->partial.filled);
}

void partial_free(struct context *c) {
  ranges_free(&c->partial.missing);
  ranges_free(&c->partial.filled);
  ranges_free(&c->partial.rewritten);
  ranges_free(&c->partial.expected);
  working_set_free(c);
}

/* --- the program's calls of MPI --- */

void partial_stops(struct context *c) {
  if (possible && !self.helper &&
      (c->partial.missing.n || ledger.out > 0 || ledger.idle > 0)) {
    working_set_stops(c, (uintptr_t)self.site ^ c->depth);
  }
}

/* Is something missing that c's VP will touch next? */
static bool lacks(struct context *c) {
  struct ranges pages = {0};
  lock_take(&c->io_lock);
  const bool known = working_set_soon(c, &c->partial.missing, &pages);
  lock_give(&c->io_lock);
  const bool any = known && pages.n;
  ranges_free(&pages);
  return any;
}

/* Others keep away from c meanwhile; not so if they are at it already. */
static void fill_now(struct context *c) {
  ledger_lock();
  const bool alone = c->state == CONTEXT_IN && c->held && !c->pins &&
                     !c->growing &&
                     !(contexts.threaded && contexts.threaded(c));
  if (alone) {
    ledger_set_state_locked(c, CONTEXT_COMING);
  }
  ledger_unlock();
  if (alone) {
    partial_fill(c);
    lock_take(&c->heap_lock);
    ledger_lock();
    ledger_set_state_locked(c, CONTEXT_IN);
    ledger_unlock();
    late_frees_apply(c);
    lock_give(&c->heap_lock);
  }
}

void partial_goes_on(struct context *c) {
  struct context_partial *const p = &c->partial;
  if (!p->set || self.helper) {
    return;
  }
  if (p->missing.n && !p->waited && lacks(c)) {
    fill_now(c);
  }
  lock_take(&c->io_lock);
  working_set_goes_on(c, p->waited);
  lock_give(&c->io_lock);
  p->waited = false;
}
