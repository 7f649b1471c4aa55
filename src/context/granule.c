/* Which parts of a context's heap range may have pages. Small parts at the
   start, where small contexts live; huge pages beyond. */
#include "context/granule.h"

#include "context/internal.h"
#include "os/native.h"

#include <stdatomic.h>

enum { FINE_COUNT = 32 };
#define FINE (HUGE_PAGE / FINE_COUNT)

static size_t granule_of(const struct context *c, const char *p) {
  const size_t at = p - c->range;
  return at < HUGE_PAGE ? at / FINE : FINE_COUNT - 1 + at / HUGE_PAGE;
}

static size_t granule_bytes(size_t g) {
  return g < FINE_COUNT ? FINE : HUGE_PAGE;
}

int granules_create(struct context *c) {
  const size_t count = FINE_COUNT + c->range_len / HUGE_PAGE;
  c->granule_words = count / 64 + 1;
  c->granules = native_zalloc(c->granule_words, sizeof(*c->granules));
  return c->granules ? 0 : -1;
}

uint64_t granules_use(struct context *c, const char *p, size_t n) {
  uint64_t fresh = 0;
  const size_t last = granule_of(c, p + n - 1);
  for (size_t g = granule_of(c, p); g <= last; g++) {
    const uint64_t bit = 1ull << (g % 64);
    if (!(atomic_fetch_or(&c->granules[g / 64], bit) & bit)) {
      fresh += granule_bytes(g);
    }
  }
  return fresh;
}

bool granules_have(const struct context *c, const char *p, size_t n) {
  const size_t last = granule_of(c, p + n - 1);
  for (size_t g = granule_of(c, p); g <= last; g++) {
    if (!(c->granules[g / 64] >> (g % 64) & 1)) {
      return false;
    }
  }
  return true;
}

void granules_clear(struct context *c) {
  for (size_t w = 0; w < c->granule_words; w++) {
    c->granules[w] = 0;
  }
}
