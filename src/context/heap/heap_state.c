#include "context/heap/heap_state.h"

#include <errno.h>
#include <string.h>

/* Offsets from the base; then `ranges` free ones, and the map of the pages. */
struct state {
  uint64_t top, high, live, pieces, ranges;
  uint64_t open[HEAP_SLAB_CLASSES]; /* 1 + offset, or 0 */
};
struct state_range {
  uint64_t at, size;
};

static size_t pages_below(size_t top) {
  return (top + HEAP_SLAB_PAGE - 1) / HEAP_SLAB_PAGE;
}

static size_t count_ranges(const struct heap_space *s) {
  struct heap_cursor cur;
  size_t n = 0;
  for (bool more = heap_tree_first(&s->free, 0, &cur); more;
       more = heap_tree_next(&s->free, 0, &cur)) {
    n++;
  }
  return n;
}

static size_t size_of(size_t ranges, size_t top) {
  return sizeof(struct state) + ranges * sizeof(struct state_range) +
         pages_below(top);
}

size_t heap_state_size(const struct heap_space *s) {
  return size_of(count_ranges(s), (size_t)(s->top - s->base));
}

static void save_ranges(const struct heap_space *s, struct state_range *to) {
  struct heap_cursor cur;
  for (bool more = heap_tree_first(&s->free, 0, &cur); more;
       more = heap_tree_next(&s->free, 0, &cur)) {
    const struct heap_range r = heap_tree_get(&s->free, &cur);
    *to++ = (struct state_range){(uint64_t)(r.at - s->base), r.size};
  }
}

void heap_state_save(const struct heap_space *s, const struct heap_slabs *slabs,
                     size_t live, void *to) {
  struct state *const state = to;
  struct state_range *const range = (struct state_range *)(state + 1);
  *state = (struct state){.top = (uint64_t)(s->top - s->base),
                          .high = (uint64_t)(s->high - s->base),
                          .live = live,
                          .pieces = s->pieces,
                          .ranges = count_ranges(s)};
  for (int i = 0; i < HEAP_SLAB_CLASSES; i++) {
    const char *const open = (const char *)slabs->classes[i].open;
    state->open[i] = open ? 1 + (uint64_t)(open - s->base) : 0;
  }
  save_ranges(s, range);
  memcpy(range + state->ranges, slabs->map, pages_below(state->top));
}

/* --- loading --- */

static bool is_sound(const struct state *state, size_t n) {
  enum { ABSURD = 1 << 30 };
  if (n < sizeof(*state) || state->ranges > n || state->top / ABSURD > n ||
      n != size_of(state->ranges, state->top)) {
    return false;
  }
  for (int i = 0; i < HEAP_SLAB_CLASSES; i++) {
    if (state->open[i] > state->top) {
      return false;
    }
  }
  return state->top <= state->high;
}

size_t heap_state_top(const void *from, size_t n) {
  const struct state *const state = from;
  return is_sound(state, n) ? state->top : SIZE_MAX;
}

static int load_ranges(struct heap_space *s, const struct state_range *from,
                       size_t n) {
  struct heap_cursor cur;
  int code = 0;
  for (size_t i = 0; i < n && !code; i++) {
    const struct heap_range r = {s->base + from[i].at, from[i].size};
    if (from[i].at + from[i].size > (size_t)(s->top - s->base)) {
      return EINVAL;
    }
    (void)heap_tree_find(&s->free, r.at, &cur);
    code = heap_tree_insert(&s->free, &cur, r) ? ENOMEM : 0;
  }
  return code;
}

int heap_state_load(struct heap_space *s, struct heap_slabs *slabs,
                    size_t *live, const void *from, size_t n) {
  const struct state *const state = from;
  const struct state_range *const range =
      (const struct state_range *)(state + 1);
  if (!is_sound(state, n)) {
    return EINVAL;
  }
  if (state->top > (size_t)(s->end - s->base)) {
    return ENOSPC;
  }
  if (state->pieces > s->most) {
    return ENOMEM;
  }
  memset(slabs->map, 0, pages_below((size_t)(s->top - s->base)));
  const size_t nodes = s->free.limit * HEAP_TREE_NODE_BYTES;
  heap_tree_init(&s->free, s->free.nodes, nodes);
  s->top = s->base + state->top;
  const size_t all = (size_t)(s->limit - s->base);
  s->high = s->base + (state->high < all ? state->high : all);
  s->pieces = state->pieces;
  s->lacks = NULL;
  for (int i = 0; i < HEAP_SLAB_CLASSES; i++) {
    struct heap_slab_class *const c = &slabs->classes[i];
    c->spare = NULL;
    c->open = state->open[i]
                  ? (struct heap_slab *)(s->base + state->open[i] - 1)
                  : NULL;
  }
  memcpy(slabs->map, range + state->ranges, pages_below(state->top));
  *live = state->live;
  return load_ranges(s, range, state->ranges);
}
