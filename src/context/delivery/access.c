/* Messages to a context: single ones, and what is expected. */
#include "context/delivery/access.h"

#include "context/delivery/delivery.h"
#include "context/internal.h"
#include "context/residency/lazy.h"
#include "context/residency/track.h"

void context_read(struct context *c, const void *p, void *out, size_t n) {
  struct delivery d;
  delivery_begin(&d);
  delivery_pair(&d, c, c);
  delivery_read(&d, c, p, out, n);
  delivery_unpair(&d);
  delivery_end(&d);
}

void context_write(struct context *c, void *p, const void *in, size_t n) {
  struct delivery d;
  delivery_begin(&d);
  delivery_pair(&d, c, c);
  delivery_write(&d, c, p, in, n, true);
  delivery_unpair(&d);
  delivery_end(&d);
}

void context_received(struct context *c, const void *p, size_t n) {
  const uintptr_t at = (uintptr_t)p;
  if (!contexts.disks || !context_owns(c, p)) {
    return;
  }
  pthread_mutex_lock(&c->io_lock);
  if (ranges_remove(&c->incoming, at, at + n) != 0) {
    ranges_clear(&c->incoming); /* short of memory: swap more, not less */
  }
  pthread_mutex_unlock(&c->io_lock);
}

void context_expect(struct context *c, const void *p, size_t n) {
  if (context_owns(c, p)) {
    track_open((void *)p, n);
  }
  /* Only whole pages can be left out. */
  if (!context_owns(c, p) || n < 2 * PAGE || !contexts.disks ||
      contexts.mapped) {
    return;
  }
  pthread_mutex_lock(&c->io_lock);
  lazy_overwrite(c, round_up((uintptr_t)p, PAGE),
                 round_down((uintptr_t)p + n, PAGE));
  /* Short of memory, the bytes are swapped as any others. */
  (void)ranges_add(&c->incoming, (uintptr_t)p, (uintptr_t)p + n);
  pthread_mutex_unlock(&c->io_lock);
}

void context_expect_end(struct context *c) {
  pthread_mutex_lock(&c->io_lock);
  ranges_clear(&c->incoming);
  pthread_mutex_unlock(&c->io_lock);
}
