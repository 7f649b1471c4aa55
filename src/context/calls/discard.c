#define _GNU_SOURCE
#include "context/calls/discard.h"

#include "context/calls/oversize.h"
#include "context/internal.h"
#include "context/residency/lazy.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/lock.h"

#include <sys/mman.h>

/* Is [p, p + n) within [start, start + len)? */
static bool within(const void *p, size_t n, const void *start, size_t len) {
  const size_t at = (uintptr_t)p - (uintptr_t)start;
  return at < len && n <= len - at;
}

/* Pages that do not exist are not swapped. What is mapped lazily and too small
   to be mapped anew shows the file again. */
static void forget_pages(struct context *c, uintptr_t start, uintptr_t end) {
  lock_take(&c->io_lock);
  lazy_overwrite(c, start, end);
  (void)madvise((void *)start, end - start, MADV_DONTNEED);
  lock_give(&c->io_lock);
}

static int discard_oversize(struct context *c, char *p, size_t n) {
  const uintptr_t start = bits_align_up((uintptr_t)p, PAGE);
  const uintptr_t end = bits_align_down((uintptr_t)p + n, PAGE);
  return start < end && oversize_clear(c, (void *)start, end - start) ? -1 : 0;
}

int context_discard_range(struct context *c, void *p, size_t n) {
  if (n > 0 && oversize_has(c, p, n)) {
    return discard_oversize(c, p, n);
  }
  bool ours = within(p, n, c->range, c->range_len);
  for (int i = 0; i < image_parts(&c->image) && !ours; i++) {
    const struct image_part part = image_part(&c->image, i);
    ours =
        !image_part_is_stack(&c->image, i) && within(p, n, part.data, part.len);
  }
  const uintptr_t start = bits_align_up((uintptr_t)p, PAGE);
  const uintptr_t end = bits_align_down((uintptr_t)p + n, PAGE);
  if (n > 0 && !ours) {
    return -1;
  }
  if (n > 0 && start < end && store_swaps()) {
    forget_pages(c, start, end);
  }
  return 0;
}
