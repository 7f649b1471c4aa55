/* An implicit heap of four children to a node: half as many levels as with
   two. Where the first was taken, the least child fills the hole down to a
   leaf, and the last record rises from there (Wegener 1993): it belongs near
   the end, where it comes from.

   em/pqueue/insertion_heap.h has the same for the user's records, in memory of
   fixed size, with an order that is found out at run time; here only numbers
   are compared, and four children lie in as few cache lines as they can. */
#include "tasks/heap.h"

#include <errno.h>
#include <string.h>

#include "os/native.h"

enum {
  ARITY = 4,
  FIRST_ROOM = 64, /* records */
};

/* Inlined with a stride that is a constant. */
#define HEAP_INLINE static inline __attribute__((always_inline))

/* Bytes before the first record: the second one, which begins the first group
   of children, begins a cache line. So no group lies in more lines than it
   must, be a record 16, 24 or 32 bytes. */
static size_t offset(size_t stride) {
  return (TASK_LINE - stride % TASK_LINE) % TASK_LINE;
}

void task_heap_open(struct task_heap *heap, size_t stride) {
  *heap = (struct task_heap){.stride = stride};
}

void task_heap_close(struct task_heap *heap) {
  if (heap->records) {
    native_free(heap->records - offset(heap->stride));
  }
  task_heap_open(heap, heap->stride);
}

/* Not by realloc, which does not keep the place within a cache line. */
static int grow(struct task_heap *heap) {
  const size_t room = heap->room ? 2 * heap->room : FIRST_ROOM;
  size_t bytes;
  if (__builtin_mul_overflow(room, heap->stride, &bytes) ||
      bytes > PTRDIFF_MAX - TASK_LINE) {
    return ENOMEM;
  }
  char *const memory = native_aligned(TASK_LINE, bytes + offset(heap->stride));
  if (!memory) {
    return ENOMEM;
  }
  char *const records = memory + offset(heap->stride);
  if (heap->records) {
    memcpy(records, heap->records, heap->count * heap->stride);
    native_free(heap->records - offset(heap->stride));
  }
  heap->records = records;
  heap->room = room;
  return 0;
}

HEAP_INLINE uint64_t priority_at(const char *records, size_t i, size_t stride) {
  return ((const struct task_record *)(records + i * stride))->priority;
}

HEAP_INLINE void move(char *records, size_t to, size_t from, size_t stride) {
  memcpy(records + to * stride, records + from * stride, stride);
}

/* Lets a record that lies elsewhere rise from a hole. */
HEAP_INLINE void rise(char *records, size_t hole, const char *item,
                      size_t stride) {
  const uint64_t priority = ((const struct task_record *)item)->priority;
  while (hole > 0) {
    const size_t parent = (hole - 1) / ARITY;
    if (priority_at(records, parent, stride) <= priority) {
      break;
    }
    move(records, hole, parent, stride);
    hole = parent;
  }
  memcpy(records + hole * stride, item, stride);
}

/* A record that takes part, and its priority. */
struct player {
  size_t i;
  uint64_t priority;
};

/* Nobody could guess which of two it is: so no branch. */
HEAP_INLINE struct player first_of(struct player a, struct player b) {
  const uint64_t mask = -(uint64_t)(b.priority < a.priority);
  return (struct player){a.i ^ ((a.i ^ b.i) & mask),
                         a.priority ^ ((a.priority ^ b.priority) & mask)};
}

HEAP_INLINE struct player player_at(const char *records, size_t i,
                                    size_t stride) {
  return (struct player){i, priority_at(records, i, stride)};
}

HEAP_INLINE size_t least_of_all(const char *records, size_t first,
                                size_t stride) {
  return first_of(first_of(player_at(records, first, stride),
                           player_at(records, first + 1, stride)),
                  first_of(player_at(records, first + 2, stride),
                           player_at(records, first + 3, stride)))
      .i;
}

/* The least of records [first, end), 1 to ARITY of them. */
HEAP_INLINE size_t least_of(const char *records, size_t first, size_t end,
                            size_t stride) {
  struct player best = player_at(records, first, stride);
  for (size_t i = first + 1; i < end; i++) {
    best = first_of(best, player_at(records, i, stride));
  }
  return best.i;
}

/* Asks for the children of four nodes in a row, which lie in a row, too: which
   of them are needed will be known when the least of the four is. A large heap
   is gone through in half the time by that. */
HEAP_INLINE void fetch_below(const char *records, size_t first, size_t n,
                             size_t stride) {
  const size_t below = ARITY * first + 1;
  if (below >= n) {
    return;
  }
  for (size_t at = 0; at < ARITY * ARITY * stride; at += TASK_LINE) {
    __builtin_prefetch(records + below * stride + at);
  }
}

/* Of n records, the first is a hole: where it is once children have filled it
   down to a leaf. */
HEAP_INLINE size_t sink(char *records, size_t n, size_t stride) {
  size_t hole = 0, child;
  while ((child = ARITY * hole + 1) + ARITY <= n) {
    fetch_below(records, child, n, stride);
    const size_t least = least_of_all(records, child, stride);
    move(records, hole, least, stride);
    hole = least;
  }
  if (child < n) {
    const size_t least = least_of(records, child, n, stride);
    move(records, hole, least, stride);
    hole = least;
  }
  return hole;
}

HEAP_INLINE void pop(struct task_heap *heap, struct task_record *record,
                     size_t stride) {
  char *const records = heap->records;
  memcpy(record, records, stride);
  const size_t n = --heap->count;
  if (n) {
    rise(records, sink(records, n, stride), records + n * stride, stride);
  }
}

int task_heap_push(struct task_heap *heap, const struct task_record *record) {
  if (heap->count == heap->room && grow(heap)) {
    return ENOMEM;
  }
  const size_t hole = heap->count++;
  const char *const item = (const char *)record;
  switch (heap->stride) {
  case 16:
    rise(heap->records, hole, item, 16);
    break;
  case 24:
    rise(heap->records, hole, item, 24);
    break;
  default:
    rise(heap->records, hole, item, heap->stride);
  }
  return 0;
}

void task_heap_pop(struct task_heap *heap, struct task_record *record) {
  switch (heap->stride) {
  case 16:
    pop(heap, record, 16);
    break;
  case 24:
    pop(heap, record, 24);
    break;
  default:
    pop(heap, record, heap->stride);
  }
}
