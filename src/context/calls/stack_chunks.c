#include "context/calls/stack_chunks.h"

#include "context/calls/allocate.h"
#include "context/calls/discard.h"
#include "context/calls/parts.h"
#include "context/store/store.h"
#include "os/lock.h"
#include "os/pages.h"

#include <stdint.h>

/* Frames so much above the end of a chunk, or less, may soon need it again. */
enum { NEAR = 64 << 10 };

/* A block of the heap that nobody touches. What was there before would take the
   place of the chunk's pages on disk. */
static char *take_home(struct context *c, size_t n) {
  const struct context_pages pages = {.n = n, .align = PAGE, .quiet = true};
  size_t old;
  char *const home = context_pages(c, &pages, &old);
  if (home && context_discard_range(c, home, n) == 0) {
    lock_take(&c->io_lock);
    (void)store_outdated(c, (uintptr_t)home, (uintptr_t)home + n);
    lock_give(&c->io_lock);
  }
  return home;
}

static struct image_part lowest(const struct context *c) {
  for (int i = 0; i < c->image.nlater; i++) {
    const struct image_part part = c->image.later[i];
    if (part.len && part.data == c->stack.counted) {
      return part;
    }
  }
  return (struct image_part){0};
}

static void note(struct context *c, char *counted) {
  c->stack.counted = counted;
  char *const end = stack_chunks_end(c);
  c->stack.spare = end ? end + NEAR : NULL;
}

bool stack_chunks_add(struct context *c, char *to) {
  struct opened_host parts;
  parts_host(&parts, c);
  if (to >= c->stack.counted) {
    return true;
  }
  const size_t n = (size_t)(c->stack.counted - to);
  const struct image_part part = {to, n, take_home(c, n)};
  if (part.home && parts.add(c, part, 0) == 0) {
    note(c, to);
    return true;
  }
  if (part.home) {
    context_pages_free(c, part.home, n);
  }
  return false;
}

char *stack_chunks_end(const struct context *c) {
  const struct image_part part = lowest(c);
  return part.len ? part.data + part.len : NULL;
}

void stack_chunks_drop(struct context *c) {
  struct opened_host parts;
  parts_host(&parts, c);
  const struct image_part part = lowest(c);
  if (part.len) {
    parts.drop(c, part);
    note(c, part.data + part.len);
    context_pages_free(c, part.home, part.len);
  }
}
