#include "context/residency/changes.h"

#include "base/message.h"
#include "base/need.h"
#include "context/granule.h"
#include "context/internal.h"
#include "context/residency/density.h"
#include "context/residency/lazy.h"
#include "context/residency/track.h"
#include "context/stack_part.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/pages.h"

enum {
  MAX_EXTENTS = 4096,
  /* Reading a hole of this size costs about as much as one more request. */
  MERGE = 128 << 10,
  /* The same for pages that need not be written. */
  GAP = 64 << 10,
};

/* What is looked at. */
struct search {
  struct context *c;
  struct changes *found;
  uintptr_t last;      /* end of the last page to be written */
  bool mapped;         /* the piece looked at now shows the file */
  struct ranges freed; /* what shows the file and is not in use any more */
};

static _Noreturn void no_memory(const struct context *c) {
  msg_fail_here(MSG_FAILED, "out of memory: swapping out rank %d", c->rank);
}

static void add(const struct context *c, struct ranges *r, uintptr_t start,
                uintptr_t end) {
  if (ranges_add(r, start, end) != 0) {
    no_memory(c);
  }
}

static void add_all(const struct context *c, const struct ranges *from,
                    struct ranges *to) {
  if (ranges_add_all(to, from) != 0) {
    no_memory(c);
  }
}

static void leave(const struct context *c, struct ranges *r, const char *p,
                  size_t n) {
  if (ranges_remove(r, (uintptr_t)p, (uintptr_t)p + n) != 0) {
    no_memory(c);
  }
}

/* [start, end) must be written; and so is a gap behind the last such pages that
   is too short to be worth a request of its own. */
static void dirty(struct search *s, uintptr_t start, uintptr_t end) {
  const bool near = !s->mapped && start - s->last < GAP;
  add(s->c, &s->found->write, near ? s->last : start, end);
  s->last = end;
}

/* A few pages tell whether others of 2 MiB may be zero; not always the same
   ones, as programs like powers of two. */
static bool looks_full(uintptr_t unit) {
  enum { SAMPLES = 8, PAGES = HUGE_PAGE / PAGE };
  const size_t first = unit / HUGE_PAGE * 37;
  for (size_t i = 0; i < SAMPLES; i++) {
    const uintptr_t page = unit + (first + i * 61) % PAGES * PAGE;
    if (bits_zero((const void *)page, PAGE)) {
      return false;
    }
  }
  return true;
}

/* Who touches one page gets a huge one, of which the others are zero. */
static void dirty_but_zeros(struct search *s, uintptr_t start, uintptr_t end) {
  while (start < end) {
    const uintptr_t next = bits_align_down(start, HUGE_PAGE) + HUGE_PAGE;
    const uintptr_t stop = next < end ? next : end;
    if (stop - start < HUGE_PAGE || looks_full(start)) {
      dirty(s, start, stop);
      start = stop;
    }
    for (; start < stop; start += PAGE) {
      if (!bits_zero((const void *)start, PAGE)) {
        dirty(s, start, start + PAGE);
      }
    }
  }
}

/* [start, end) was not written: what the disk has of it stays as it is there.
   What it does not have must be written, unless that shows the file, too. */
static void keep_known(struct search *s, uintptr_t start, uintptr_t end) {
  for (uintptr_t at = start; at < end;) {
    bool there;
    const size_t n = store_piece(s->c, at, end, &there);
    if (there) {
      add(s->c, &s->found->keep, at, at + n);
    } else if (!s->mapped) {
      dirty(s, at, at + n);
    }
    at += n;
  }
}

static void visit(void *arg, uintptr_t start, uintptr_t end, int flags) {
  struct search *s = arg;
  if (s->mapped) {
    const bool written = !(flags & SURVEY_FILE);
    lazy_found(s->c, start, end, written);
    if (written) {
      dirty(s, start, end);
    }
    return;
  }
  if (flags & SURVEY_ZERO) {
    return;
  }
  while (start < end) {
    uintptr_t stop = end;
    if (track_clean(s->c, start, &stop, flags)) {
      s->found->clean += stop - start;
      keep_known(s, start, stop);
    } else {
      lazy_wrote(s->c, start, stop);
      dirty_but_zeros(s, start, stop);
    }
    start = stop;
  }
}

/* Memory that is in use. */
static void look_at(struct search *s, char *p, size_t n) {
  const uintptr_t start = (uintptr_t)p, end = start + n;
  s->last = start;
  for (uintptr_t at = start; at < end;) {
    const size_t piece = ranges_piece(&s->c->lazy.mapped, at, end, &s->mapped);
    if (s->mapped) {
      keep_known(s, at, at + piece);
    }
    pages_survey(at, at + piece, visit, s);
    at += piece;
  }
  leave(s->c, &s->freed, p, n);
}

/* On disk, the data of what was opened at run time lie in the place of blocks
   that nobody touches. */
static void leave_homes(struct search *s) {
  for (int i = 0; i < image_parts(&s->c->image); i++) {
    const struct image_part part = image_part(&s->c->image, i);
    if (part.home) {
      leave(s->c, &s->found->write, part.home, part.len);
    }
  }
}

static void visit_freed(void *arg, uintptr_t start, uintptr_t end, int flags) {
  lazy_found(arg, start, end, !(flags & SURVEY_FILE));
}

/* What was touched and is not in use any more is not worth writing, but was
   worth reading. */
static void look_at_freed(const struct search *s) {
  for (size_t i = 0; i < s->freed.n; i++) {
    const struct range *const r = &s->freed.item[i];
    pages_survey(r->start, r->end, visit_freed, s->c);
  }
}

static void look_at_image(struct search *s) {
  for (int i = 0; i < image_parts(&s->c->image); i++) {
    const struct image_part part = context_live_part(s->c, i);
    look_at(s, part.data, part.len);
  }
}

static void look_at_heap(struct search *s) {
  struct context *const c = s->c;
  struct heap_extent *const extent =
      need_alloc(MAX_EXTENTS * sizeof(*extent), "swapping out");
  lock_take(&c->heap_lock);
  const size_t n = heap_extents(c->heap, MERGE, extent, MAX_EXTENTS);
  lock_give(&c->heap_lock);
  granules_clear(c);
  c->need = image_parts_len(&c->image) + c->reserved;
  for (size_t i = 0; i < n; i++) {
    c->need += granules_use(c, extent[i].start, extent[i].len);
    look_at(s, extent[i].start, extent[i].len);
  }
  native_free(extent);
}

void changes_find_in(struct context *c, const struct ranges *in,
                     struct changes *found) {
  struct search s = {.c = c, .found = found};
  for (size_t i = 0; i < in->n; i++) {
    look_at(&s, (char *)in->item[i].start, in->item[i].end - in->item[i].start);
  }
  add_all(c, &found->write, &found->keep);
}

void changes_find(struct context *c, struct changes *found) {
  struct search s = {.c = c, .found = found};
  add_all(c, &c->lazy.mapped, &s.freed);
  look_at_image(&s);
  look_at_heap(&s);
  look_at_freed(&s);
  leave_homes(&s);
  add_all(c, &found->write, &found->keep);
  density_learn(c, &found->keep);
  ranges_free(&s.freed);
}
