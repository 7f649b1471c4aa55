#include "tasks/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "os/lock.h"
#include "os/native.h"

/* Records of a small chunk. */
#define SMALL 8
/* Free chunks that move between a part and the depot at once, and those that a
   part keeps before it does that. */
#define BATCH 32
#define KEEP (2 * BATCH)

struct slab {
  struct slab *next;
  _Alignas(64) unsigned char bytes[];
};

/* Free chunks of one size. */
struct shelf {
  struct task_chunk *first;
  int n;
};

struct task_pool {
  size_t stride;
  int chunk;
  size_t bytes[2]; /* of a chunk, small and large */
  uint64_t limit;
  _Atomic uint64_t held, kept; /* bytes of slabs; of those for good */
  struct lock lock;            /* for what follows */
  struct slab *slabs;
  struct task_chunk
      *depot[2]; /* batches of BATCH: `next` within a batch, and
                    the first chunk's record[0] is the next batch */
};

struct task_pool_part {
  struct task_pool *pool;
  struct shelf shelf[2];
  unsigned char *room, *room_end; /* of a slab for chunks */
  unsigned char *kept, *kept_end; /* of one for good */
};

struct task_pool *task_pool_new(size_t stride, int chunk, uint64_t limit) {
  struct task_pool *pool = native_zalloc(1, sizeof(*pool));
  if (!pool) {
    return NULL;
  }
  const int small = chunk < SMALL ? chunk : SMALL;
  pool->stride = stride;
  pool->chunk = chunk;
  pool->limit = limit;
  pool->bytes[0] = sizeof(struct task_chunk) + (size_t)small * stride;
  pool->bytes[1] = sizeof(struct task_chunk) + (size_t)chunk * stride;
  lock_init(&pool->lock, LOCK_TASK_POOL);
  return pool;
}

void task_pool_free(struct task_pool *pool) {
  if (!pool) {
    return;
  }
  for (struct slab *s = pool->slabs, *next; s; s = next) {
    next = s->next;
    native_free(s);
  }
  lock_destroy(&pool->lock);
  native_free(pool);
}

struct task_pool_part *task_pool_join(struct task_pool *pool) {
  struct task_pool_part *part = native_zalloc(1, sizeof(*part));
  if (part) {
    part->pool = pool;
  }
  return part;
}

void task_pool_leave(struct task_pool_part *part) {
  native_free(part);
}

/* --- slabs --- */

/* Counts n bytes more, unless that is beyond the limit. */
static int reserve(struct task_pool *pool, size_t n, bool limited) {
  uint64_t held = atomic_load_explicit(&pool->held, memory_order_relaxed);
  do {
    if (limited && pool->limit && held + n > pool->limit) {
      return -1;
    }
  } while (!atomic_compare_exchange_weak_explicit(&pool->held, &held, held + n,
                                                  memory_order_relaxed,
                                                  memory_order_relaxed));
  return 0;
}

/* The bytes of a new slab with room for n. */
static unsigned char *slab_new(struct task_pool *pool, size_t n, bool limited) {
  const size_t bytes = sizeof(struct slab) + n;
  if (reserve(pool, bytes, limited)) {
    return NULL;
  }
  struct slab *slab = native_aligned(64, (bytes + 63) / 64 * 64);
  if (!slab) {
    atomic_fetch_sub_explicit(&pool->held, bytes, memory_order_relaxed);
    return NULL;
  }
  lock_take(&pool->lock);
  slab->next = pool->slabs;
  pool->slabs = slab;
  lock_give(&pool->lock);
  return slab->bytes;
}

static size_t slab_room(size_t piece) {
  const size_t room = TASK_SLAB - sizeof(struct slab);
  return piece > room ? piece : room;
}

/* --- chunks --- */

/* A batch from the depot becomes the shelf's. */
static int take_batch(struct task_pool *pool, struct shelf *shelf, int large) {
  lock_take(&pool->lock);
  struct task_chunk *batch = pool->depot[large];
  if (batch) {
    memcpy(&pool->depot[large], batch->record, sizeof(batch));
  }
  lock_give(&pool->lock);
  if (!batch) {
    return -1;
  }
  shelf->first = batch;
  shelf->n = BATCH;
  return 0;
}

static void give_batch(struct task_pool *pool, struct shelf *shelf, int large) {
  struct task_chunk *const batch = shelf->first, *last = batch;
  for (int i = 1; i < BATCH; i++) {
    last = last->next;
  }
  shelf->first = last->next;
  shelf->n -= BATCH;
  last->next = NULL;
  lock_take(&pool->lock);
  memcpy(batch->record, &pool->depot[large], sizeof(batch));
  pool->depot[large] = batch;
  lock_give(&pool->lock);
}

static struct task_chunk *cut_chunk(struct task_pool_part *part, int large,
                                    bool limited) {
  struct task_pool *const pool = part->pool;
  const size_t n = pool->bytes[large];
  if ((size_t)(part->room_end - part->room) < n) {
    const size_t room = slab_room(n);
    unsigned char *bytes = slab_new(pool, room, limited);
    if (!bytes) {
      return NULL;
    }
    part->room = bytes;
    part->room_end = bytes + room;
  }
  struct task_chunk *chunk = (struct task_chunk *)(void *)part->room;
  part->room += n;
  chunk->large = (uint32_t)large;
  chunk->most = (uint32_t)(large || pool->chunk < SMALL ? pool->chunk : SMALL);
  return chunk;
}

static struct task_chunk *empty(struct task_chunk *chunk) {
  if (chunk) {
    chunk->next = NULL;
    chunk->at = chunk->n = 0;
  }
  return chunk;
}

struct task_chunk *task_chunk_new(struct task_pool_part *part, int large) {
  struct shelf *const shelf = &part->shelf[large];
  if (!shelf->n && take_batch(part->pool, shelf, large)) {
    return empty(cut_chunk(part, large, true));
  }
  struct task_chunk *const chunk = shelf->first;
  shelf->first = chunk->next;
  shelf->n--;
  return empty(chunk);
}

struct task_chunk *task_chunk_beyond(struct task_pool_part *part) {
  return empty(cut_chunk(part, 1, false));
}

void task_chunk_free(struct task_pool_part *part, struct task_chunk *chunk) {
  struct shelf *const shelf = &part->shelf[chunk->large];
  chunk->next = shelf->first;
  shelf->first = chunk;
  if (++shelf->n >= KEEP) {
    give_batch(part->pool, shelf, (int)chunk->large);
  }
}

void *task_pool_keep(struct task_pool_part *part, size_t n) {
  if ((size_t)(part->kept_end - part->kept) < n) {
    const size_t room = slab_room(n);
    unsigned char *bytes = slab_new(part->pool, room, false);
    if (!bytes) {
      return NULL;
    }
    part->kept = bytes;
    part->kept_end = bytes + room;
  }
  void *const p = part->kept;
  part->kept += n;
  atomic_fetch_add_explicit(&part->pool->kept, n, memory_order_relaxed);
  return p;
}

/* --- counts --- */

uint64_t task_pool_bytes(const struct task_pool *pool) {
  return atomic_load_explicit(&pool->held, memory_order_relaxed);
}

uint64_t task_pool_kept(const struct task_pool *pool) {
  return atomic_load_explicit(&pool->kept, memory_order_relaxed);
}
