/* Which context has what, and where it lies. */
#include "context/internal.h"
#include "context/stack_part.h"

struct contexts contexts;

struct context *context_get(int index) {
  return &contexts.item[index];
}

struct context *context_of(const void *p) {
  const uintptr_t at = (uintptr_t)p - (uintptr_t)contexts.base;
  /* Before creation, and where addresses lack for it, nothing is ours. */
  if (!contexts.base || at >= contexts.stride * contexts.n) {
    return NULL;
  }
  return &contexts.item[at / contexts.stride];
}

static bool in_heap(const struct context *c, const void *p) {
  return (uintptr_t)p - (uintptr_t)c->range < c->range_len;
}

int context_part_of(const struct context *c, const void *p, size_t *before) {
  *before = 0;
  for (int i = 0; i < image_parts(&c->image); i++) {
    const struct image_part part = image_part(&c->image, i);
    if ((uintptr_t)p - (uintptr_t)part.data < part.len) {
      return i;
    }
    *before += part.home ? 0 : part.len;
  }
  return -1;
}

size_t context_stack_range(const struct context *c, char **start) {
  *start = c->range + c->range_len + HUGE_PAGE;
  return contexts.stack;
}

bool context_covers(const struct context *c, const void *p) {
  size_t before;
  return in_heap(c, p) || context_part_of(c, p, &before) >= 0;
}

bool context_owns(const struct context *c, const void *p) {
  size_t before;
  if (in_heap(c, p)) {
    return true;
  }
  const int i = context_part_of(c, p, &before);
  if (i < 0) {
    return false;
  }
  const struct image_part part = context_live_part(c, i);
  return (uintptr_t)p - (uintptr_t)part.data < part.len;
}

bool context_in_memory(const struct context *c, const void *p) {
  return !context_owns(c, p) ||
         (c->state == CONTEXT_IN && !c->lazy.mapped_bytes);
}
