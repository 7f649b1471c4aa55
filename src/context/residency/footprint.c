#include "context/residency/footprint.h"

#include "os/bits.h"
#include "os/pages.h"

/* One page of entries maps so much memory, unless that is a huge page. */
struct tally {
  uint64_t bytes;
  uintptr_t mapped; /* the end of what the tables counted so far map */
};

static void see(void *arg, uintptr_t start, uintptr_t end, int flags) {
  struct tally *const t = arg;
  const uintptr_t unit = bits_align_down(start, HUGE_PAGE);
  const uintptr_t from = unit < t->mapped ? t->mapped : unit;
  const uintptr_t to = bits_align_up(end, HUGE_PAGE);
  t->bytes += flags & SURVEY_ZERO ? 0 : end - start;
  t->bytes += to > from ? (to - from) / HUGE_PAGE * PAGE : 0;
  t->mapped = to;
}

/* One that has the place of a block on disk: that has no pages itself. */
static void see_part(struct tally *t, struct image_part part) {
  const uintptr_t start = (uintptr_t)part.data;
  if (part.len && part.home) {
    t->mapped = 0;
    pages_survey(start, start + part.len, see, t);
  }
}

uint64_t footprint(struct context *c) {
  struct tally t = {0};
  lock_take(&c->heap_lock);
  const uintptr_t top = (uintptr_t)heap_used_to(c->heap);
  lock_give(&c->heap_lock);
  const uintptr_t start = (uintptr_t)c->range;
  if (top > start) {
    /* A huge page may go beyond what is in use. */
    pages_survey(start, bits_align_up(top, HUGE_PAGE), see, &t);
  }
  for (int i = 0; i < image_parts(&c->image); i++) {
    see_part(&t, image_part(&c->image, i));
  }
  return t.bytes + image_parts_len(&c->image);
}
