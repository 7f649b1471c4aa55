/* Moving a whole context between memory and disk. */
#define _GNU_SOURCE
#include "context/residency/swap.h"

#include "base/counters.h"
#include "base/invariant.h"
#include "base/limit.h"
#include "base/message.h"
#include "context/internal.h"
#include "context/residency/changes.h"
#include "context/residency/density.h"
#include "context/residency/frames.h"
#include "context/residency/guards.h"
#include "context/residency/lazy.h"
#include "context/residency/ledger.h"
#include "context/residency/partial.h"
#include "context/residency/stay.h"
#include "context/residency/track.h"
#include "context/stack_part.h"
#include "context/store/crate.h"
#include "context/store/space.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/pages.h"
#include "report/trace.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* --- memory of a context --- */

static _Noreturn void map_failed(const struct context *c) {
  char advice[LIMIT_TEXT];
  const int error = errno;
  msg_fail_here(MSG_FAILED, "mapping memory: context of rank %d: %s: %s",
                c->rank, strerror(error),
                limit_advice(advice, LIMIT_MEMORY, error, c->range_len,
                             "raise vm.max_map_count or use fewer ranks"));
}

static void map_range(const struct context *c, char *p, size_t n, int prot) {
  if (n &&
      mmap(p, n, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
           -1, 0) == MAP_FAILED) {
    map_failed(c);
  }
}

/* Huge pages would waste memory in the first 2 MiB of v small contexts. */
static void advise(const struct context *c) {
  if (c->range_len > HUGE_PAGE) {
    madvise(c->range + HUGE_PAGE, c->range_len - HUGE_PAGE,
            density_huge(c) ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  madvise(c->range, HUGE_PAGE, MADV_NOHUGEPAGE);
}

void context_map(struct context *c) {
  c->guarded = false;
  map_range(c, c->range, c->range_len, PROT_READ | PROT_WRITE);
  advise(c);
  if (contexts.place) {
    contexts.place(c->index, c->range, c->range_len);
  }
}

/* What the program has protected is accessible while it is moved. */
static void lift_protections(const struct context *c) {
  if (protections_lift(&c->protections, 0, UINTPTR_MAX) != 0) {
    map_failed(c);
  }
}

static void restore_protections(const struct context *c) {
  if (protections_restore(&c->protections, 0, UINTPTR_MAX) != 0) {
    map_failed(c);
  }
}

static void map_image(struct context *c) {
  enum { LARGE = 4 << 20 };
  for (int i = 0; i < image_parts(&c->image); i++) {
    const struct image_part part = context_live_part(c, i);
    map_range(c, part.data, part.len, PROT_READ | PROT_WRITE);
    if (part.len >= LARGE && density_huge(c)) {
      madvise(part.data, part.len, MADV_HUGEPAGE);
    }
  }
}

/* Gives the pages back; a stray access faults instead of reading zeros. */
static void unmap(struct context *c) {
  c->guarded = false;
  map_range(c, c->range, c->range_len, PROT_NONE);
  for (int i = 0; i < image_parts(&c->image); i++) {
    const struct image_part part = context_live_part(c, i);
    map_range(c, part.data, part.len, PROT_NONE);
  }
}

void context_drop(struct context *c) {
  lock_take(&c->io_lock);
  atomic_fetch_add(&c->departures, 1);
  store_clear(c);
  ranges_clear(&c->incoming);
  boundary_free(&c->boundary);
  track_finish(c, 0, false);
  unmap(c);
  partial_forget(c);
  lazy_finish(c, false);
  stay_end(c, false);
  lock_give(&c->io_lock);
}

/* --- swapping out --- */

/* A context that leaves. */
struct outgoing {
  struct context *c;
  struct changes found;
  uintptr_t frames;     /* end of the pages that may be kept for others */
  uint64_t begin;       /* ns */
  uint64_t used;        /* stay_used_ns then */
  uint64_t read_lazily; /* bytes, by the system */
};

static void leave_out(const struct ranges *from, struct ranges *r) {
  for (size_t i = 0; i < from->n; i++) {
    const uintptr_t start = bits_align_up(from->item[i].start, PAGE);
    const uintptr_t end = bits_align_down(from->item[i].end, PAGE);
    if (start < end && ranges_remove(r, start, end) != 0) {
      return; /* out of memory: more bytes are written than needed */
    }
  }
}

/* Huge pages are kept for those who come in; others are not worth it, and those
   of a file must not show in another context. */
static void keep_frames(void *arg, uintptr_t start, uintptr_t end, int flags) {
  (void)arg;
  start = bits_align_up(start, HUGE_PAGE);
  end = bits_align_down(end, HUGE_PAGE);
  if (start < end && !(flags & SURVEY_FILE) &&
      (flags & SURVEY_HUGE || !pages_survey_full())) {
    frames_keep(start, end);
  }
}

/* The end of the pages that may be kept: whole frames below the heap's top. */
static uintptr_t frames_end(const struct context *c) {
  const uintptr_t start = (uintptr_t)c->range;
  const uintptr_t top = (uintptr_t)heap_top(c->heap);
  return top - start < HUGE_PAGE ? start : bits_align_up(top, HUGE_PAGE);
}

/* Others need not wait until what has changed is written: what lies between is
   given back before, where that is worth mappings of its own. */
static void give_up_between(struct outgoing *o) {
  struct context *const c = o->c;
  const uintptr_t start = (uintptr_t)c->range;
  const uintptr_t top = bits_align_up((uintptr_t)heap_top(c->heap), PAGE);
  uint64_t left = top - start + image_parts_len(&c->image) + c->reserved;
  uintptr_t at = start;
  for (size_t i = ranges_find(&o->found.write, start); at < top; i++) {
    const bool any = i < o->found.write.n && o->found.write.item[i].start < top;
    const uintptr_t stop = any ? o->found.write.item[i].start : top;
    if (stop > at && stop - at >= HUGE_PAGE) {
      if (o->frames > at) {
        pages_survey(at, bits_min(stop, o->frames), keep_frames, NULL);
      }
      map_range(c, (char *)at, stop - at, PROT_NONE);
      left -= stop - at;
    }
    at = any ? o->found.write.item[i].end : top;
  }
  ledger_gave_back(c, left);
}

static void give_up_memory(struct context *c, uintptr_t frames) {
  const uintptr_t start = (uintptr_t)c->range;
  if (frames > start) {
    pages_survey(start, frames, keep_frames, NULL);
  }
  unmap(c);
}

/* What the heap does not use any more. */
static void give_back_space(struct context *c) {
  lock_take(&c->heap_lock);
  space_trim(c, heap_top(c->heap));
  space_limit_heap(c);
  lock_give(&c->heap_lock);
}

/* Takes the lock, and finds out what is to be written. */
static void begin_out(struct outgoing *o) {
  struct context *const c = o->c;
  INVARIANT_IS(c->state, ==, CONTEXT_GOING);
  o->begin = clock_ns();
  o->used = stay_used_ns();
  lock_take(&c->io_lock);
  atomic_fetch_add(&c->departures, 1);
  o->read_lazily = lazy_bytes_read(c);
  lift_protections(c);
  changes_find(c, &o->found);
  o->frames = frames_end(c);
  track_finish(c, o->found.clean, o->frames > (uintptr_t)c->range);
  give_back_space(c);
  leave_out(&c->incoming, &o->found.write);
  leave_out(&c->incoming, &o->found.keep);
}

/* `bytes` have been written. */
static void end_out(struct outgoing *o, uint64_t bytes) {
  struct context *const c = o->c;
  store_replace(c, &o->found.keep);
  if (!c->guarded) {
    give_up_memory(c, o->frames);
  }
  partial_forget(c);
  lazy_finish(c, true);
  stay_moved(c, stay_used_ns() - o->used, bytes);
  stay_read(c, o->read_lazily);
  stay_end(c, true);
  lock_give(&c->io_lock);
  ranges_free(&o->found.write);
  counter_add(swap_out, bytes);
  counter_add(swaps_out, 1);
  counter_add(swap_in, o->read_lazily);
  counter_add(bytes_read, o->read_lazily);
  trace_add(c->index, TRACE_IN, o->read_lazily);
  trace_move(c->index, true, o->begin, clock_ns(), bytes);
}

/* What is compressed is made of pages that have not changed, too. */
static uint64_t write_out(struct outgoing *o) {
  if (!store_compresses() && !contexts.frozen) {
    give_up_between(o);
  }
  return store_swap_out(o->c, &o->found.write, &o->found.keep);
}

void context_swap_out(struct context *c) {
  struct outgoing o = {.c = c};
  begin_out(&o);
  end_out(&o, write_out(&o));
}

/* The locks of several contexts are taken by their addresses. */
static void sort(struct context **c, int n) {
  for (int i = 1; i < n; i++) {
    struct context *const one = c[i];
    int at = i;
    for (; at > 0 && c[at - 1] > one; at--) {
      c[at] = c[at - 1];
    }
    c[at] = one;
  }
}

/* All that is kept of a mapped context is not in memory. */
static bool can_be_put(const struct outgoing *o) {
  return !o->c->lazy.mapped.n && crate_fits(&o->found.keep);
}

void contexts_swap_out(struct context **c, int n, char *buffer) {
  struct outgoing o[n];
  struct crate_move m[n];
  sort(c, n);
  for (int i = 0; i < n; i++) {
    o[i] = (struct outgoing){.c = c[i]};
    begin_out(&o[i]);
    m[i] = (struct crate_move){.c = c[i], .keep = &o[i].found.keep};
    m[i].asked = buffer && can_be_put(&o[i]);
  }
  const int error = crate_put(m, n, buffer);
  if (error) {
    store_failed(c[0], "swapping out", error);
  }
  for (int i = 0; i < n; i++) {
    c[i]->weight = m[i].done ? WEIGHT_LIGHT : WEIGHT_HEAVY;
  }
  guards_close(m, n);
  for (int i = 0; i < n; i++) {
    end_out(&o[i], m[i].done ? crate_bytes(c[i]) : write_out(&o[i]));
  }
}

/* --- swapping in --- */

/* Whole units that will be read need no fresh, cleared pages. */
static void take_frames(struct context *c, const struct ranges *pages) {
  const uintptr_t base = (uintptr_t)c->range;
  for (size_t i = ranges_find(pages, base); i < pages->n; i++) {
    const struct range *r = &pages->item[i];
    uintptr_t start =
        bits_align_up(r->start < base ? base : r->start, HUGE_PAGE);
    const uintptr_t end = bits_align_down(r->end, HUGE_PAGE);
    if (r->start >= base + c->range_len) {
      break;
    }
    if (start < end && start == base) {
      madvise(c->range, HUGE_PAGE, MADV_HUGEPAGE);
    }
    while (start < end) {
      const size_t n = frames_give(&start, end);
      if (!n) {
        break;
      }
      start += n;
    }
  }
}

static _Noreturn void no_memory(const struct context *c) {
  msg_fail_here(MSG_FAILED, "out of memory: swapping in rank %d", c->rank);
}

/* The block's page differs from the disk's from now on. */
static void apply_boundary(void *arg, uintptr_t p, const char *block,
                           const uint64_t *known, int complete) {
  struct context *c = arg;
  bool mapped;
  (void)complete;
  boundary_apply(block, known, (char *)p);
  ranges_piece(&c->lazy.mapped, p, p + PAGE, &mapped);
  if (!mapped && store_outdated(c, p, p + PAGE) != 0) {
    no_memory(c);
  }
}

/* Moves what `pages` has of the stack to *stack: where a thread's frames lie is
   neither mapped from the file nor watched. */
static void divide_stack(const struct context *c, struct ranges *pages,
                         struct ranges *stack) {
  const struct image_part live = context_stack_live(c);
  const uintptr_t start = (uintptr_t)live.data, end = start + live.len;
  for (uintptr_t at = start; at < end;) {
    bool there;
    const size_t n = ranges_piece(pages, at, end, &there);
    if (there && ranges_add(stack, at, at + n) != 0) {
      no_memory(c);
    }
    at += n;
  }
  if (live.len && ranges_remove(pages, start, end) != 0) {
    no_memory(c);
  }
}

/* A context that comes in. */
struct incoming {
  struct context *c;
  struct ranges pages, stack; /* to be read where the context lies */
  uint64_t begin;             /* ns */
  uint64_t used;              /* stay_used_ns then */
  uint64_t together;          /* bytes that come with those of others */
};

/* What is in a crate is not where the context lies. */
static void leave_crate(struct context *c) {
  const struct ranges *const there = &c->crate.pages;
  for (size_t i = 0; i < there->n; i++) {
    if (store_outdated(c, there->item[i].start, there->item[i].end) != 0) {
      no_memory(c);
    }
  }
}

static void begin_in(struct incoming *in,
                     void (*took_frames)(struct context *)) {
  struct context *const c = in->c;
  INVARIANT_IS(c->state, ==, CONTEXT_COMING);
  in->begin = clock_ns();
  in->used = stay_used_ns();
  if (!c->guarded) {
    map_image(c);
    context_map(c);
  }
  c->guarded = false;
  lock_take(&c->io_lock);
  in->together = crate_bytes(c);
  leave_crate(c);
  if (ranges_add_all(&in->pages, store_pages(c)) != 0) {
    no_memory(c);
  }
  divide_stack(c, &in->pages, &in->stack);
  partial_expect(c, &in->pages);
  lazy_map(c, &in->pages);
  partial_came(c);
  take_frames(c, &in->pages);
  took_frames(c);
}

static void end_in(struct incoming *in) {
  struct context *const c = in->c;
  uint64_t bytes = in->together;
  if (in->pages.n || in->stack.n) {
    bytes += store_swap_in(c, &in->pages, &in->stack);
  }
  boundary_flush(&c->boundary, apply_boundary, c);
  track_begin(c, &in->pages, lazy_quiet(c));
  restore_protections(c);
  stay_moved(c, stay_used_ns() - in->used, bytes);
  lock_give(&c->io_lock);
  ranges_free(&in->pages);
  ranges_free(&in->stack);
  counter_add(swap_in, bytes);
  counter_add(swaps_in, 1);
  lock_take(&c->heap_lock);
  heap_swapped(c->heap, 1);
  lock_give(&c->heap_lock);
  trace_move(c->index, false, in->begin, clock_ns(), bytes);
}

void contexts_swap_in(struct context **c, int n, char *buffer,
                      void (*took_frames)(struct context *)) {
  struct incoming in[n];
  struct crate_move m[n];
  sort(c, n);
  guards_open(c, n);
  for (int i = 0; i < n; i++) {
    in[i] = (struct incoming){.c = c[i]};
    m[i] = (struct crate_move){.c = c[i]};
    begin_in(&in[i], took_frames);
  }
  const int error = crate_get(m, n, buffer);
  if (error) {
    store_failed(c[0], "swapping in", error);
  }
  for (int i = 0; i < n; i++) {
    end_in(&in[i]);
  }
}
