#include "context/delivery/expect.h"

#include "context/internal.h"
#include "context/residency/lazy.h"
#include "context/residency/track.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/lock.h"

void context_received(struct context *c, const void *p, size_t n) {
  const uintptr_t at = (uintptr_t)p;
  if (!store_exists() || !context_covers(c, p)) {
    return;
  }
  lock_take(&c->io_lock);
  if (ranges_remove(&c->incoming, at, at + n) != 0) {
    ranges_clear(&c->incoming); /* short of memory: swap more, not less */
  }
  lock_give(&c->io_lock);
}

void context_expect(struct context *c, const void *p, size_t n) {
  if (context_owns(c, p)) {
    track_open((void *)p, n);
  }
  /* Only whole pages can be left out. */
  if (!context_owns(c, p) || n < 2 * PAGE || !store_swaps()) {
    return;
  }
  lock_take(&c->io_lock);
  lazy_overwrite(c, bits_align_up((uintptr_t)p, PAGE),
                 bits_align_down((uintptr_t)p + n, PAGE));
  /* Short of memory, the bytes are swapped as any others. */
  (void)ranges_add(&c->incoming, (uintptr_t)p, (uintptr_t)p + n);
  lock_give(&c->io_lock);
}

void context_expect_end(struct context *c) {
  lock_take(&c->io_lock);
  ranges_clear(&c->incoming);
  lock_give(&c->io_lock);
}
