#include "context/store/place.h"

#include "context/internal.h"
#include "os/bits.h"

uint64_t place_offset(const struct context *c, const void *p) {
  if ((uintptr_t)p - (uintptr_t)c->range <= c->range_len) {
    return image_parts_len(&c->image) + ((const char *)p - c->range);
  }
  size_t before;
  const int i = context_part_of(c, p, &before);
  const struct image_part part = image_part(&c->image, i);
  const size_t in = (size_t)((const char *)p - part.data);
  return part.home ? image_parts_len(&c->image) + (part.home - c->range) + in
                   : before + in;
}

size_t place_piece(const struct context *c, uintptr_t at, uintptr_t end) {
  size_t before;
  if (at - (uintptr_t)c->range < c->range_len) {
    return end - at;
  }
  const int i = context_part_of(c, (const void *)at, &before);
  if (i < 0) {
    return end - at;
  }
  const struct image_part part = image_part(&c->image, i);
  return bits_min(end, (uintptr_t)part.data + part.len) - at;
}

char *place_address(const struct context *c, uint64_t offset, size_t *n) {
  const uint64_t heap = image_parts_len(&c->image);
  uint64_t before = 0;
  for (int i = 0; i < image_parts(&c->image); i++) {
    const struct image_part part = image_part(&c->image, i);
    const uint64_t start =
        part.home ? heap + (uint64_t)(part.home - c->range) : before;
    before += part.home ? 0 : part.len;
    if (offset - start < part.len) {
      *n = bits_min(*n, start + part.len - offset);
      return part.data + (offset - start);
    }
    if (part.len && start > offset) {
      *n = bits_min(*n, start - offset);
    }
  }
  return c->range + (offset - heap);
}
