#include "mpi/coll/call/coll_memory.h"

#include "base/need.h"
#include "config/memory_used.h"
#include "os/native.h"
#include "vp/run_queue.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Shorter ones stay with malloc anyway. */
enum { LEAST = 64 << 10, SLOTS = 32, PART = 4 };

/* Before the memory itself. */
struct block {
  alignas(max_align_t) size_t size;
};

static struct {
  _Atomic(struct block *) slot[SLOTS];
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
  if (b->size >= LEAST && count_in(b->size)) {
    for (int i = 0; i < SLOTS; i++) {
      struct block *none = NULL;
      if (atomic_compare_exchange_strong(&kept.slot[i], &none, b)) {
        return;
      }
    }
    count_out(b->size);
  }
  native_free(b);
}

/* One that is neither too short nor twice as long, or NULL. */
static struct block *find(size_t n) {
  for (int i = 0; n >= LEAST && i < SLOTS; i++) {
    struct block *const b = atomic_exchange(&kept.slot[i], NULL);
    if (!b) {
      continue;
    }
    count_out(b->size);
    if (b->size >= n && b->size / 2 <= n) {
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
