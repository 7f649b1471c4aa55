#include "context/discard.h"

#include "context/context.h"

#include <stdbool.h>
#include <stdint.h>

/* Is [p, p + n) within [start, start + len)? */
static bool within(const void *p, size_t n, const void *start, size_t len) {
  const size_t at = (uintptr_t)p - (uintptr_t)start;
  return at < len && n <= len - at;
}

int context_discard_range(struct context *c, void *p, size_t n) {
  const bool ours = within(p, n, c->range, c->range_len) ||
                    within(p, n, c->image.data, c->image.data_len);
  return n == 0 || ours ? 0 : -1;
}
