/* An implicit heap of four children to a node: half as many levels as with
   two, and those of a node lie in one or two cache lines. What is put in sinks
   to the bottom first, without being compared, and rises from there (Wegener
   1993): what comes from the end of the heap belongs near its end. */
#include "em/pqueue/insertion_heap.h"

enum {
  ARITY = 4,
  SMALL = 256 /* bytes of a record that is kept on the stack */
};

/* What the inner loops know: constants, where they were compiled for them. */
struct shape {
  const struct record_order *o;
  enum record_kind kind;
  size_t size;
};

/* A record that takes part, and its number. */
struct player {
  size_t i;
  uint64_t number;
};

RECORD_INLINE struct player player_at(struct shape s, const char *records,
                                      size_t i) {
  return (struct player){i, record_number(s.o, s.kind, records + i * s.size)};
}

/* Whichever of two is before the other. Nobody could guess which: so no branch
   where numbers decide, and `?:` may become one. */
RECORD_INLINE struct player first_of(struct shape s, const char *records,
                                     struct player a, struct player b) {
  bool second = b.number < a.number;
  if (!record_decides(s.kind) && b.number == a.number) {
    second = record_compare_rest(s.o, s.kind, records + b.i * s.size,
                                 records + a.i * s.size) < 0;
  }
  const uint64_t mask = -(uint64_t)second;
  return (struct player){a.i ^ ((a.i ^ b.i) & mask),
                         a.number ^ ((a.number ^ b.number) & mask)};
}

/* The least of records [first, end), 1 to ARITY of them. */
RECORD_INLINE size_t least_of(struct shape s, const char *records, size_t first,
                              size_t end) {
  struct player best = player_at(s, records, first);
  for (size_t i = first + 1; i < end; i++) {
    best = first_of(s, records, best, player_at(s, records, i));
  }
  return best.i;
}

RECORD_INLINE size_t least_of_all(struct shape s, const char *records,
                                  size_t first) {
  const struct player a = first_of(s, records, player_at(s, records, first),
                                   player_at(s, records, first + 1));
  const struct player b = first_of(s, records, player_at(s, records, first + 2),
                                   player_at(s, records, first + 3));
  return first_of(s, records, a, b).i;
}

/* Of n records, one is a hole: lets the least of its children fill it, and so
   on. Where the hole is in the end, at a leaf. */
RECORD_INLINE size_t sink(struct shape s, char *records, size_t hole,
                          size_t n) {
  size_t child;
  while ((child = ARITY * hole + 1) + ARITY <= n) {
    const size_t least = least_of_all(s, records, child);
    record_copy(records + hole * s.size, records + least * s.size, s.size);
    hole = least;
  }
  if (child < n) {
    const size_t least = least_of(s, records, child, n);
    record_copy(records + hole * s.size, records + least * s.size, s.size);
    hole = least;
  }
  return hole;
}

/* Lets a record that lies elsewhere rise from a hole, to `top` at most. */
RECORD_INLINE void rise(struct shape s, char *records, size_t hole, size_t top,
                        const char *item) {
  while (hole > top) {
    const size_t parent = (hole - 1) / ARITY;
    if (!record_before(s.o, s.kind, item, records + parent * s.size)) {
      break;
    }
    record_copy(records + hole * s.size, records + parent * s.size, s.size);
    hole = parent;
  }
  record_copy(records + hole * s.size, item, s.size);
}

/* --- large records, for which there is no room on the stack --- */

static void swap(char *a, char *b, size_t size) {
  char item[SMALL];
  for (size_t i = 0; i < size; i += SMALL) {
    const size_t n = size - i < SMALL ? size - i : SMALL;
    memcpy(item, a + i, n);
    memcpy(a + i, b + i, n);
    memcpy(b + i, item, n);
  }
}

RECORD_INLINE void rise_large(struct shape s, char *records, size_t i) {
  while (i > 0) {
    const size_t parent = (i - 1) / ARITY;
    char *const a = records + i * s.size, *const b = records + parent * s.size;
    if (!record_before(s.o, s.kind, a, b)) {
      break;
    }
    swap(a, b, s.size);
    i = parent;
  }
}

RECORD_INLINE void sink_large(struct shape s, char *records, size_t i,
                              size_t n) {
  for (size_t child; (child = ARITY * i + 1) < n;) {
    const size_t end = child + ARITY < n ? child + ARITY : n;
    const size_t least = least_of(s, records, child, end);
    char *const a = records + i * s.size, *const b = records + least * s.size;
    if (!record_before(s.o, s.kind, b, a)) {
      break;
    }
    swap(a, b, s.size);
    i = least;
  }
}

/* --- growing --- */

RECORD_INLINE void add(struct shape s, char *records, size_t i) {
  if (s.size > SMALL) {
    rise_large(s, records, i);
    return;
  }
  char item[SMALL];
  record_copy(item, records + i * s.size, s.size);
  rise(s, records, i, 0, item);
}

/* What is below i is in order. */
RECORD_INLINE void settle(struct shape s, char *records, size_t i, size_t n) {
  if (s.size > SMALL) {
    sink_large(s, records, i, n);
    return;
  }
  char item[SMALL];
  record_copy(item, records + i * s.size, s.size);
  rise(s, records, sink(s, records, i, n), i, item);
}

RECORD_INLINE void grow(struct shape s, char *records, size_t heap, size_t n) {
  if (n - heap <= heap) {
    for (size_t i = heap; i < n; i++) {
      add(s, records, i);
    }
  } else if (n > 1) {
    for (size_t i = (n - 2) / ARITY + 1; i-- > 0;) {
      settle(s, records, i, n);
    }
  }
}

/* --- removing --- */

/* The last record need not be kept elsewhere: it is where no heap is. */
RECORD_INLINE void pop(struct shape s, char *records, size_t n) {
  if (n > 1) {
    rise(s, records, sink(s, records, 0, n - 1), 0, records + (n - 1) * s.size);
  }
}

/* --- looking --- */

/* A branch that is hardly ever taken costs less than what would avoid it. */
RECORD_INLINE size_t least(struct shape s, const char *records, size_t n) {
  struct player best = player_at(s, records, 0);
  for (size_t i = 1; i < n; i++) {
    const struct player p = player_at(s, records, i);
    if (__builtin_expect(p.number > best.number, 1)) {
      continue;
    }
    if (p.number < best.number ||
        (!record_decides(s.kind) &&
         record_compare_rest(s.o, s.kind, records + i * s.size,
                             records + best.i * s.size) < 0)) {
      best = p;
    }
  }
  return best.i;
}

/* --- by kind and size --- */

/* Returns f(shape, ...) with a size that is a constant, where it is one of the
   usual. */
#define BY_SIZE(o, kind, f, ...)                                               \
  if ((kind) == RECORD_8 && (o)->size == 8)                                    \
    return f((struct shape){o, kind, 8}, __VA_ARGS__);                         \
  if ((kind) == RECORD_8 && (o)->size == 16)                                   \
    return f((struct shape){o, kind, 16}, __VA_ARGS__);                        \
  if ((kind) == RECORD_8 && (o)->size == 24)                                   \
    return f((struct shape){o, kind, 24}, __VA_ARGS__);                        \
  if ((kind) == RECORD_4 && (o)->size == 4)                                    \
    return f((struct shape){o, kind, 4}, __VA_ARGS__);                         \
  return f((struct shape){o, kind, (o)->size}, __VA_ARGS__);

RECORD_INLINE void grow_kind(const struct record_order *o,
                             enum record_kind kind, char *records, size_t heap,
                             size_t n){BY_SIZE(o, kind, grow, records, heap, n)}

RECORD_INLINE
    void pop_kind(const struct record_order *o, enum record_kind kind,
                  char *records, size_t n){BY_SIZE(o, kind, pop, records, n)}

RECORD_INLINE size_t
    least_kind(const struct record_order *o, enum record_kind kind,
               const char *records, size_t n) {
  BY_SIZE(o, kind, least, records, n)
}

/* What the program has compiled for its comparison, if it has. */
static const struct pems_kernel *compiled(const struct record_order *o) {
  return o->kernel && o->kernel->heap_grow ? o->kernel : NULL;
}

void insertion_heap_grow(const struct record_order *o, void *records,
                         size_t heap, size_t n) {
  if (compiled(o)) {
    o->kernel->heap_grow(records, heap, n, o->context);
    return;
  }
  RECORD_DISPATCH(o, grow_kind, records, heap, n)
}

void insertion_heap_pop(const struct record_order *o, void *records, size_t n) {
  if (compiled(o)) {
    o->kernel->heap_pop(records, n, o->context);
    return;
  }
  RECORD_DISPATCH(o, pop_kind, records, n)
}

size_t insertion_heap_least(const struct record_order *o, const void *records,
                            size_t n) {
  if (compiled(o)) {
    return o->kernel->heap_least(records, n, o->context);
  }
  RECORD_DISPATCH(o, least_kind, records, n)
  return 0;
}
