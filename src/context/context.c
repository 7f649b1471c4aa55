/* Which context has what, and where it lies. */
#include "context/internal.h"

#include "base/message.h"
#include "os/bits.h"

#include <string.h>

struct contexts contexts;

struct context *context_get(int index) {
  return &contexts.item[index];
}

struct context *context_of(const void *p) {
  const uintptr_t at = (uintptr_t)p - (uintptr_t)contexts.base;
  /* Before creation base is NULL and n is 0: nothing is ours. */
  if (!contexts.stride || at >= contexts.stride * contexts.n) {
    return NULL;
  }
  return &contexts.item[at / contexts.stride];
}

static bool in_heap(const struct context *c, const void *p) {
  return (uintptr_t)p - (uintptr_t)c->range < c->range_len;
}

/* Which part of its image's data holds p, or -1; *before: bytes of the parts
   before it. */
static int image_part_of(const struct image *img, const void *p,
                         size_t *before) {
  *before = 0;
  for (int i = 0; i < image_parts(img); i++) {
    const struct image_part part = image_part(img, i);
    if ((uintptr_t)p - (uintptr_t)part.data < part.len) {
      return i;
    }
    *before += part.len;
  }
  return -1;
}

bool context_owns(const struct context *c, const void *p) {
  size_t before;
  return in_heap(c, p) || image_part_of(&c->image, p, &before) >= 0;
}

bool context_in_memory(const struct context *c, const void *p) {
  return !context_owns(c, p) ||
         (c->state == CONTEXT_IN && !c->lazy.mapped_bytes);
}

/* On disk a context is its image's data, then its heap. */
uint64_t context_offset(const struct context *c, const void *p) {
  if (in_heap(c, p)) {
    return image_parts_len(&c->image) + ((const char *)p - c->range);
  }
  size_t before;
  const int i = image_part_of(&c->image, p, &before);
  return before + ((const char *)p - image_part(&c->image, i).data);
}

_Noreturn void context_io_failed(const struct context *c, const char *what,
                                 int error) {
  msg_fail(MSG_FAILED, "%s: context of rank %d in %s: %s", what, c->rank,
           disks_dir(contexts.disks, c->index), strerror(error));
}

void context_limit_heap(struct context *c) {
  const size_t len = image_parts_len(&c->image);
  heap_limit(c->heap, c->granted - len,
             bits_align_down(contexts.mu - len, PAGE));
}
