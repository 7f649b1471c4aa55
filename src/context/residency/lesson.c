#include "context/residency/lesson.h"

#include "context/internal.h"
#include "context/residency/prediction.h"
#include "context/stack_part.h"
#include "context/store/place.h"
#include "os/bits.h"
#include "os/lock.h"

enum {
  SITES = 256,
  /* More pieces are not told: 12 KiB a set. */
  MOST_PIECES = 512,
};

/* Pages as offsets on disk. */
struct lesson {
  uintptr_t site;
  uint64_t number; /* 0: none; newer ones have larger numbers */
  size_t parts;    /* bytes before the heap: for contexts with as many */
  struct context_found what;
};

static struct {
  struct lock lock;
  uint64_t numbers;
  struct lesson of[SITES];
} lessons = {.lock = LOCK_INITIALIZER(LOCK_LESSONS)};

static void forget(struct lesson *l) {
  prediction_found_free(&l->what);
  *l = (struct lesson){0};
}

void lessons_clear(void) {
  lock_take(&lessons.lock);
  for (int i = 0; i < SITES; i++) {
    forget(&lessons.of[i]);
  }
  lock_give(&lessons.lock);
}

/* --- addresses and offsets --- */

/* Adds what `from` has of n bytes at p, as offsets. */
static bool add_offsets(const struct context *c, const struct ranges *from,
                        const char *p, size_t n, struct ranges *to) {
  const uintptr_t first = (uintptr_t)p, last = first + n;
  for (size_t i = ranges_find(from, first); i < from->n; i++) {
    const struct range *const r = &from->item[i];
    const uintptr_t start = r->start > first ? r->start : first;
    const uintptr_t end = bits_min(r->end, last);
    if (start >= end) {
      break;
    }
    const uint64_t at = place_offset(c, (const char *)start);
    if (ranges_add(to, at, at + (end - start)) != 0) {
      return false;
    }
  }
  return true;
}

/* False: memory is short. What was opened at run time is each rank's own. */
static bool to_offsets(const struct context *c, const struct ranges *from,
                       struct ranges *to) {
  bool all = add_offsets(c, from, c->range, c->range_len, to);
  for (int i = 0; i < image_parts(&c->image) && all; i++) {
    const struct image_part part = context_live_part(c, i);
    all = part.home || add_offsets(c, from, part.data, part.len, to);
  }
  return all;
}

static bool to_addresses(const struct context *c, const struct ranges *from,
                         struct ranges *to) {
  const uint64_t end = image_parts_len(&c->image) + c->range_len;
  for (size_t i = 0; i < from->n; i++) {
    const uint64_t stop = bits_min(from->item[i].end, end);
    size_t n;
    for (uint64_t at = from->item[i].start; at < stop; at += n) {
      n = stop - at;
      const uintptr_t p = (uintptr_t)place_address(c, at, &n);
      if (ranges_add(to, bits_align_down(p, PREDICTION_UNIT),
                     bits_align_up(p + n, PREDICTION_UNIT)) != 0) {
        return false;
      }
    }
  }
  return true;
}

/* --- telling and asking --- */

void lessons_tell(const struct context *c, struct context_prediction *p) {
  struct lesson new = {.site = p->site,
                       .parts = image_parts_len(&c->image),
                       .what.bytes = p->bytes};
  if (p->apart || p->touched.n > MOST_PIECES || p->written.n > MOST_PIECES ||
      !to_offsets(c, &p->touched, &new.what.touched) ||
      !to_offsets(c, &p->written, &new.what.written)) {
    forget(&new);
    return;
  }
  lock_take(&lessons.lock);
  struct lesson *const l = &lessons.of[site_slot(p->site, SITES)];
  struct lesson old = *l;
  p->lesson = new.number = ++lessons.numbers;
  *l = new;
  lock_give(&lessons.lock);
  forget(&old);
}

/* A copy of what is told of p's site, if it is news for c. */
static bool find(const struct context *c, const struct context_prediction *p,
                 struct lesson *copy) {
  bool found = false;
  *copy = (struct lesson){0};
  lock_take(&lessons.lock);
  const struct lesson *const l = &lessons.of[site_slot(p->site, SITES)];
  if (l->site == p->site && l->number > p->lesson &&
      l->parts == image_parts_len(&c->image)) {
    copy->number = l->number;
    copy->what.bytes = l->what.bytes;
    found = to_addresses(c, &l->what.touched, &copy->what.touched) &&
            to_addresses(c, &l->what.written, &copy->what.written);
  }
  lock_give(&lessons.lock);
  return found;
}

bool lessons_ask(const struct context *c, struct context_prediction *p) {
  struct lesson told;
  if (!prediction_may_be_told(p)) {
    return false;
  }
  const bool found = find(c, p, &told);
  if (found) {
    p->lesson = told.number;
    prediction_told(p, &told.what);
  }
  forget(&told);
  return found;
}
