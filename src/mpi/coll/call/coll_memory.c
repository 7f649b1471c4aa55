#include "mpi/coll/call/coll_memory.h"

#include "base/need.h"
#include "config/memory_used.h"
#include "os/native.h"
#include "vp/run_queue.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Shorter ones stay with malloc anyway; of these it would give the pages back
   each time where a few are at the end of what it has. */
enum { LEAST = 16 << 10, SLOTS = 32, PART = 4 };

/* Before the memory itself. */
struct block {
  alignas(max_align_t) size_t size;
};

static struct {
  _Atomic(struct block *) slot[SLOTS];
  atomic_size_t size[SLOTS]; /* of what was there last: to look costs more */
  atomic_size_t bytes;
} kept;

static void count_out(size_t size) {
  atomic_fetch_sub(&kept.bytes, size);
  memory_used_sub(MEMORY_PACKED, size);
}

/* Is there room for so much more, beside what calls have? It counts from now
   on. */
static bool count_in(size_t size) {
  const uint64_t share = memory_plan_bytes(&vps.plan.memory, MEMORY_PACKED);
  if (atomic_fetch_add(&kept.bytes, size) + size <= share / PART &&
      memory_used_take(MEMORY_PACKED, size, share)) {
    return true;
  }
  atomic_fetch_sub(&kept.bytes, size);
  return false;
}

static void keep(struct block *b) {
  const size_t size = b->size;
  if (size >= LEAST && count_in(size)) {
    for (int i = 0; i < SLOTS; i++) {
      struct block *none = NULL;
      if (!atomic_load_explicit(&kept.slot[i], memory_order_relaxed) &&
          atomic_compare_exchange_strong(&kept.slot[i], &none, b)) {
        atomic_store_explicit(&kept.size[i], size, memory_order_relaxed);
        return;
      }
    }
    count_out(size);
  }
  native_free(b);
}

static bool fits(size_t size, size_t n) {
  return size >= n && size / 2 <= n;
}

/* One that is neither too short nor twice as long, or NULL. */
static struct block *find(size_t n) {
  for (int i = 0; n >= LEAST && i < SLOTS; i++) {
    struct block *const b =
        fits(atomic_load_explicit(&kept.size[i], memory_order_relaxed), n)
            ? atomic_exchange(&kept.slot[i], NULL)
            : NULL;
    if (!b) {
      continue;
    }
    count_out(b->size);
    if (fits(b->size, n)) {
      return b;
    }
    keep(b);
  }
  return NULL;
}

void *coll_memory_take(size_t n, const char *what) {
  struct block *b = find(n);
  if (!b) {
    b = need_alloc(sizeof(*b) + n, what);
    b->size = n;
  }
  return b + 1;
}

void coll_memory_give(void *p) {
  if (p) {
    keep((struct block *)p - 1);
  }
}

size_t coll_memory_kept(void) {
  return atomic_load(&kept.bytes);
}

void coll_memory_drop(void) {
  for (int i = 0; i < SLOTS; i++) {
    struct block *const b = atomic_exchange(&kept.slot[i], NULL);
    if (b) {
      count_out(b->size);
      native_free(b);
    }
  }
}
