#include "context/heap/heap_space.h"

#include <stdbool.h>

/* Free ranges tried for an aligned piece before one is taken that is so large
   that it fits wherever it lies. */
enum { TRIES = 32 };

static char *round_up(char *p, size_t align) {
  const size_t past = (uintptr_t)p & (align - 1);
  return past == 0 ? p : p + (align - past);
}

static char *round_down(char *p, size_t align) {
  return p - ((uintptr_t)p & (align - 1));
}

void heap_space_limit(struct heap_space *s, size_t now, size_t most) {
  s->end = s->base + (now & ~(size_t)15);
  s->limit = s->base + (most & ~(size_t)15);
}

void heap_space_init(struct heap_space *s, char *base, size_t size, void *pool,
                     size_t pool_bytes) {
  s->base = base;
  heap_space_limit(s, size, size);
  s->lacks = NULL;
  s->top = base;
  s->high = base;
  s->pieces = 0;
  s->most = pool_bytes / HEAP_TREE_RANGE_COST;
  heap_tree_init(&s->free, pool, pool_bytes);
}

/* Can [at, at + n) be dealt out from above the top? */
static bool below_end(struct heap_space *s, char *at, size_t n) {
  if (at > s->limit || (size_t)(s->limit - at) < n) {
    return false;
  }
  if (at + n <= s->end) {
    return true;
  }
  s->lacks = at + n;
  return false;
}

static void set_top(struct heap_space *s, char *top) {
  s->top = top;
  s->high = top > s->high ? top : s->high;
}

/* A full pool cannot happen while pieces <= most; were it to, the range would
   stay unused. */
static void add(struct heap_space *s, struct heap_cursor *cur, char *at,
                size_t n) {
  if (n > 0) {
    heap_tree_insert(&s->free, cur, (struct heap_range){at, n});
  }
}

/* Cuts [at, at + n) out of the free range at the cursor. */
static void carve(struct heap_space *s, struct heap_cursor *cur, char *at,
                  size_t n) {
  const struct heap_range r = heap_tree_get(&s->free, cur);
  const size_t before = (size_t)(at - r.at);
  const size_t after = r.size - before - n;
  if (before > 0) {
    heap_tree_set(&s->free, cur, (struct heap_range){r.at, before});
    add(s, cur, at + n, after);
  } else if (after > 0) {
    heap_tree_set(&s->free, cur, (struct heap_range){at + n, after});
  } else {
    heap_tree_erase(&s->free, cur);
  }
}

/* Deals out [at, at + n) from above the top. */
static void carve_top(struct heap_space *s, char *at, size_t n) {
  if (at > s->top) {
    struct heap_cursor cur;
    heap_tree_find(&s->free, s->top, &cur);
    add(s, &cur, s->top, (size_t)(at - s->top));
  }
  set_top(s, at + n);
}

/* Where in the free range the piece would begin. */
static char *place(struct heap_range r, size_t align, size_t lead) {
  return round_up(r.at + lead, align) - lead;
}

static bool find_fit(const struct heap_space *s, size_t n, size_t align,
                     size_t lead, struct heap_cursor *cur) {
  bool found = heap_tree_first(&s->free, n, cur);
  for (int i = 0; found && i < TRIES; i++) {
    const struct heap_range r = heap_tree_get(&s->free, cur);
    const size_t gap = (size_t)(place(r, align, lead) - r.at);
    if (gap <= r.size && r.size - gap >= n) {
      return true;
    }
    found = heap_tree_next(&s->free, n, cur);
  }
  return found && heap_tree_first(&s->free, n + align - 16, cur);
}

char *heap_space_take(struct heap_space *s, size_t n, size_t align,
                      size_t lead) {
  struct heap_cursor cur;
  char *at;
  if (s->pieces >= s->most) {
    return NULL;
  }
  if (find_fit(s, n, align, lead, &cur)) {
    at = place(heap_tree_get(&s->free, &cur), align, lead);
    carve(s, &cur, at, n);
  } else {
    at = round_up(s->top + lead, align) - lead;
    if (!below_end(s, at, n)) {
      return NULL;
    }
    carve_top(s, at, n);
  }
  s->pieces++;
  return at;
}

bool heap_space_is_free(struct heap_space *s, char *at, size_t n) {
  struct heap_cursor cur;
  if (at >= s->top) {
    return below_end(s, at, n);
  }
  if (!heap_tree_find(&s->free, at, &cur)) {
    return false;
  }
  const struct heap_range r = heap_tree_get(&s->free, &cur);
  return at < r.at + r.size && (size_t)(r.at + r.size - at) >= n;
}

void heap_space_take_at(struct heap_space *s, char *at, size_t n) {
  struct heap_cursor cur;
  s->pieces++;
  if (at >= s->top) {
    carve_top(s, at, n);
  } else if (heap_tree_find(&s->free, at, &cur)) {
    carve(s, &cur, at, n);
  }
}

int heap_space_extend(struct heap_space *s, char *at, size_t n, size_t more) {
  char *next = at + n;
  struct heap_cursor cur;
  if (next == s->top) {
    if (!below_end(s, next, more)) {
      return -1;
    }
    set_top(s, next + more);
    return 0;
  }
  if (!heap_tree_find(&s->free, next, &cur)) {
    return -1;
  }
  const struct heap_range r = heap_tree_get(&s->free, &cur);
  if (r.at != next || r.size < more) {
    return -1;
  }
  carve(s, &cur, next, more);
  return 0;
}

/* Lowers the top to `at`, and below the free range that ends there. */
static void lower_top(struct heap_space *s, char *at) {
  struct heap_cursor cur;
  s->top = at;
  if (!heap_tree_find(&s->free, at, &cur)) {
    return;
  }
  const struct heap_range r = heap_tree_get(&s->free, &cur);
  if (r.at + r.size == at) {
    s->top = r.at;
    heap_tree_erase(&s->free, &cur);
  }
}

int heap_space_give_end(struct heap_space *s, char *at, size_t n) {
  struct heap_cursor cur, next;
  struct heap_range below = {s->base, 0}, above = {s->limit, 0};
  if (at < s->base || at >= s->top || n > (size_t)(s->top - at)) {
    return -1;
  }
  if (heap_tree_find(&s->free, at, &cur)) {
    below = heap_tree_get(&s->free, &cur);
  }
  if (below.at + below.size > at) {
    return -1;
  }
  if (at + n == s->top) {
    lower_top(s, at);
    return 0;
  }
  next = cur;
  if (heap_tree_next(&s->free, 0, &next)) {
    above = heap_tree_get(&s->free, &next);
  }
  if (above.at < at + n) {
    return -1;
  }
  const bool joins_below = below.size > 0 && below.at + below.size == at;
  const bool joins_above = above.size > 0 && above.at == at + n;
  if (joins_below && joins_above) {
    heap_tree_erase(&s->free, &next);
    heap_tree_find(&s->free, at, &cur);
    below.size += n + above.size;
    heap_tree_set(&s->free, &cur, below);
  } else if (joins_below) {
    below.size += n;
    heap_tree_set(&s->free, &cur, below);
  } else if (joins_above) {
    above.at = at;
    above.size += n;
    heap_tree_set(&s->free, &next, above);
  } else {
    add(s, &cur, at, n);
  }
  return 0;
}

int heap_space_give(struct heap_space *s, char *at, size_t n) {
  if (heap_space_give_end(s, at, n) < 0) {
    return -1;
  }
  s->pieces--;
  return 0;
}

size_t heap_space_extents(const struct heap_space *s, size_t page, size_t merge,
                          struct heap_extent *out, size_t max) {
  const size_t min = merge > page ? merge : page;
  struct heap_cursor cur;
  size_t n = 0;
  char *start = round_down(s->base, page);
  char *const end = round_up(s->top, page);
  if (max == 0) {
    return 0;
  }
  for (bool more = heap_tree_first(&s->free, min, &cur); more && n + 1 < max;
       more = heap_tree_next(&s->free, min, &cur)) {
    const struct heap_range r = heap_tree_get(&s->free, &cur);
    char *const hole = round_up(r.at, page);
    char *const hole_end = round_down(r.at + r.size, page);
    if (hole >= hole_end || (size_t)(hole_end - hole) < merge) {
      continue;
    }
    if (hole > start) {
      out[n++] = (struct heap_extent){start, (size_t)(hole - start)};
    }
    start = hole_end;
  }
  if (end > start) {
    out[n++] = (struct heap_extent){start, (size_t)(end - start)};
  }
  return n;
}
