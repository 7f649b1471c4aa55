#include "em/core/arena.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "os/native.h"

enum { BITS = 64 /* of a word of the map */ };

/* --- the map --- */

/* The word w with a bit set for each unit that is taken, or that is free. */
static uint64_t word_of(const struct arena *a, size_t w, bool taken) {
  return taken ? a->taken[w] : ~a->taken[w];
}

/* The first such unit from `from` on; `units` or more if there is none. */
static size_t next_unit(const struct arena *a, size_t from, bool taken) {
  if (from >= a->units) {
    return a->units;
  }
  size_t w = from / BITS;
  uint64_t bits = word_of(a, w, taken) & (UINT64_MAX << from % BITS);
  const size_t words = (a->units + BITS - 1) / BITS;
  while (!bits && ++w < words) {
    bits = word_of(a, w, taken);
  }
  return bits ? w * BITS + (size_t)__builtin_ctzll(bits) : a->units;
}

/* One more than the last such unit below `end`; 0 if there is none. */
static size_t past_last_unit(const struct arena *a, size_t end, bool taken) {
  if (end == 0) {
    return 0;
  }
  size_t w = (end - 1) / BITS;
  uint64_t bits =
      word_of(a, w, taken) & (UINT64_MAX >> (BITS - 1 - (end - 1) % BITS));
  while (!bits && w > 0) {
    bits = word_of(a, --w, taken);
  }
  return bits ? w * BITS + BITS - (size_t)__builtin_clzll(bits) : 0;
}

static void mark(struct arena *a, size_t first, size_t n, bool taken) {
  const size_t end = first + n;
  while (first < end) {
    const size_t w = first / BITS, bit = first % BITS;
    const size_t some = end - first < BITS - bit ? end - first : BITS - bit;
    const uint64_t bits = UINT64_MAX >> (BITS - some) << bit;
    if (taken) {
      a->taken[w] |= bits;
    } else {
      a->taken[w] &= ~bits;
    }
    first += some;
  }
  a->free = taken ? a->free - n : a->free + n;
}

static size_t units_of(const struct arena *a, size_t n) {
  return (n + a->unit - 1) / a->unit;
}

static void *take(struct arena *a, size_t first, size_t n) {
  mark(a, first, n, true);
  return a->base + first * a->unit;
}

/* --- beginning and end --- */

int arena_init(struct arena *a, void *base, size_t n, size_t unit) {
  *a = (struct arena){.base = base, .unit = unit, .units = n / unit};
  const size_t words = (a->units + BITS - 1) / BITS + 1;
  a->taken = native_alloc(2 * words * sizeof(*a->taken));
  if (!a->taken) {
    return ENOMEM;
  }
  /* Beyond the last unit nothing is ever free. */
  memset(a->taken, 0xff, words * sizeof(*a->taken));
  a->out = a->taken + words;
  memset(a->out, 0, words * sizeof(*a->out));
  mark(a, 0, a->units, false);
  return 0;
}

void arena_destroy(struct arena *a) {
  native_free(a->taken);
  a->taken = NULL;
}

/* --- ranges --- */

void *arena_get(struct arena *a, size_t n) {
  const size_t want = units_of(a, n);
  if (want > a->free) {
    return NULL;
  }
  for (size_t first = next_unit(a, 0, false); first < a->units;) {
    const size_t end = next_unit(a, first, true);
    if (end - first >= want) {
      return take(a, first, want);
    }
    first = next_unit(a, end, false);
  }
  return NULL;
}

void *arena_get_high(struct arena *a, size_t n) {
  const size_t want = units_of(a, n);
  if (want > a->free) {
    return NULL;
  }
  for (size_t end = past_last_unit(a, a->units, false); end > 0;) {
    const size_t first = past_last_unit(a, end, true);
    if (end - first >= want) {
      return take(a, end - want, want);
    }
    end = past_last_unit(a, first, false);
  }
  return NULL;
}

void *arena_get_largest(struct arena *a, size_t least, size_t most, size_t *n) {
  size_t best = 0, units = 0;
  for (size_t first = next_unit(a, 0, false); first < a->units;) {
    const size_t end = next_unit(a, first, true);
    if (end - first > units) {
      best = first;
      units = end - first;
    }
    first = next_unit(a, end, false);
  }
  *n = units * a->unit < most ? units * a->unit : most;
  return units > 0 && *n >= least ? take(a, best, units_of(a, *n)) : NULL;
}

void arena_put(struct arena *a, void *p, size_t n) {
  mark(a, (size_t)((char *)p - a->base) / a->unit, units_of(a, n), false);
}

/* --- out of use --- */

/* The smallest free range; *n is 0 if there is none. */
static size_t smallest_range(const struct arena *a, size_t *n) {
  size_t best = 0;
  *n = 0;
  for (size_t first = next_unit(a, 0, false); first < a->units;) {
    const size_t end = next_unit(a, first, true);
    if (*n == 0 || end - first < *n) {
      best = first;
      *n = end - first;
    }
    first = next_unit(a, end, false);
  }
  return best;
}

void *arena_retire(struct arena *a, size_t most, size_t *n) {
  size_t units;
  size_t first = smallest_range(a, &units);
  const size_t wanted = units_of(a, most);
  *n = 0;
  if (units == 0 || wanted == 0) {
    return NULL;
  }
  if (units > wanted) {
    first += units - wanted;
    units = wanted;
  }
  for (size_t i = first; i < first + units; i++) {
    a->out[i / BITS] |= UINT64_C(1) << i % BITS;
  }
  a->retired += units;
  *n = units * a->unit;
  return take(a, first, units);
}

size_t arena_restore(struct arena *a, size_t n) {
  const size_t words = (a->units + BITS - 1) / BITS;
  const size_t before = a->retired, wanted = n / a->unit;
  for (size_t w = 0; w < words && before - a->retired < wanted; w++) {
    while (a->out[w] && before - a->retired < wanted) {
      const size_t bit = (size_t)__builtin_ctzll(a->out[w]);
      a->out[w] &= a->out[w] - 1;
      mark(a, w * BITS + bit, 1, false);
      a->retired--;
    }
  }
  return (before - a->retired) * a->unit;
}

size_t arena_bytes(const struct arena *a) {
  return (a->units - a->retired) * a->unit;
}

size_t arena_free(const struct arena *a) {
  return a->free * a->unit;
}

size_t arena_rounded(const struct arena *a, size_t n) {
  return units_of(a, n) * a->unit;
}
