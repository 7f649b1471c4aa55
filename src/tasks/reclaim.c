/* The epoch is a number that all threads see. A thread that enters tells which
   it found (it is pinned there until it leaves), and the epoch goes on by one
   when all who are inside are pinned at it: so while a thread is pinned at e,
   the epoch is e or e + 1.

   A block that is given back by a thread pinned at r is used again when that
   thread is pinned at r + 3 or later. Nobody who is pinned at some e still
   looks at it then: the epoch is at most e + 1, so r <= e - 2. To come from e -
   1 to e somebody must have seen that the giver was no longer pinned at r; so
   what it had done there (above all, taken the block out of reach) is known to
   whoever found e. Acquire and release are enough for that. With r + 2, as is
   usual, r might be e - 1, and only a fence would order what the giver did
   before it looked at the epoch.

   Free blocks belong to one thread. One that gives more than it takes hands
   them on in batches. */
#include "tasks/reclaim.h"

#include <stdbool.h>
#include <string.h>

#include "os/native.h"
#include "os/spin.h"
#include "tasks/kind.h"

enum {
  AGES = 4,         /* lists of blocks, by the epoch they were given back in */
  SAFE = 3,         /* epochs after which they are free */
  PATIENCE = 64,    /* blocks given back before the epoch is moved on */
  BATCH = 256,      /* blocks that are handed on at once */
  SLAB = 256 * 1024 /* bytes taken from the system at once */
};

/* Blocks that were given back in one epoch, by lines. */
struct given {
  uint64_t epoch;
  struct task_block *first[TASK_BLOCK_MOST];
  struct task_block *last[TASK_BLOCK_MOST];
  size_t count[TASK_BLOCK_MOST];
};

struct task_guard {
  /* Twice the epoch at which it is pinned, plus 1; 0: it is outside. */
  _Alignas(TASK_LINE) _Atomic uint64_t pinned;
  _Alignas(TASK_LINE) struct task_reclaim *reclaim;
  uint64_t epoch; /* at which it was pinned last */
  int patience;   /* blocks that it gives back before it looks at others */
  char *slab;     /* what is left of it */
  size_t slab_left;
  struct task_block *free[TASK_BLOCK_MOST];
  size_t free_count[TASK_BLOCK_MOST];
  struct given given[AGES];
};

/* The first of BATCH blocks that are nobody's. */
struct batch {
  struct task_block block;
  struct batch *next;
};

struct slab {
  struct slab *next;
};

struct task_reclaim {
  _Alignas(TASK_LINE) _Atomic uint64_t epoch;
  _Alignas(TASK_LINE) struct spin spin; /* for what follows */
  _Atomic(struct batch *) batch[TASK_BLOCK_MOST];
  struct slab *slab;
  _Atomic size_t bytes;
  int threads;
  struct task_guard guard[];
};

/* --- making --- */

struct task_reclaim *task_reclaim_new(int threads) {
  const size_t n =
      sizeof(struct task_reclaim) + (size_t)threads * sizeof(struct task_guard);
  struct task_reclaim *const reclaim = native_aligned(TASK_LINE, n);
  if (!reclaim) {
    return NULL;
  }
  memset(reclaim, 0, n);
  reclaim->threads = threads;
  /* What is tagged with epoch 0, though it never was given, is free. */
  atomic_store(&reclaim->epoch, SAFE);
  for (int t = 0; t < threads; t++) {
    reclaim->guard[t].reclaim = reclaim;
    reclaim->guard[t].patience = PATIENCE;
  }
  return reclaim;
}

void task_reclaim_free(struct task_reclaim *reclaim) {
  if (!reclaim) {
    return;
  }
  for (struct slab *slab = reclaim->slab, *next; slab; slab = next) {
    next = slab->next;
    native_free(slab);
  }
  native_free(reclaim);
}

struct task_guard *task_reclaim_guard(struct task_reclaim *reclaim,
                                      int thread) {
  return &reclaim->guard[thread];
}

size_t task_reclaim_bytes(const struct task_reclaim *reclaim) {
  return atomic_load_explicit(&reclaim->bytes, memory_order_relaxed);
}

/* --- lists of blocks --- */

/* The user's bits may be read by others, and are left as they are. */
static void set_link(struct task_block *block, struct task_block *next) {
  const uintptr_t bits =
      atomic_load_explicit(&block->link, memory_order_relaxed) &
      TASK_BLOCK_BITS;
  atomic_store_explicit(&block->link, (uintptr_t)next | bits,
                        memory_order_relaxed);
}

static struct task_block *get_link(struct task_block *block) {
  return (struct task_block *)(atomic_load_explicit(&block->link,
                                                    memory_order_relaxed) &
                               ~TASK_BLOCK_BITS);
}

/* Hands the first BATCH free blocks to all. */
static void hand_on(struct task_guard *guard, size_t class) {
  struct task_reclaim *const reclaim = guard->reclaim;
  struct batch *const batch = (struct batch *)guard->free[class];
  struct task_block *last = &batch->block;
  for (int i = 1; i < BATCH; i++) {
    last = get_link(last);
  }
  guard->free[class] = get_link(last);
  guard->free_count[class] -= BATCH;
  set_link(last, NULL);
  task_spin_lock(&reclaim->spin);
  batch->next =
      atomic_load_explicit(&reclaim->batch[class], memory_order_relaxed);
  atomic_store_explicit(&reclaim->batch[class], batch, memory_order_relaxed);
  task_spin_unlock(&reclaim->spin);
}

/* Takes what another thread handed on, if there is any. */
static void take_batch(struct task_guard *guard, size_t class) {
  struct task_reclaim *const reclaim = guard->reclaim;
  if (!atomic_load_explicit(&reclaim->batch[class], memory_order_relaxed)) {
    return;
  }
  task_spin_lock(&reclaim->spin);
  struct batch *const batch =
      atomic_load_explicit(&reclaim->batch[class], memory_order_relaxed);
  if (batch) {
    atomic_store_explicit(&reclaim->batch[class], batch->next,
                          memory_order_relaxed);
    guard->free[class] = &batch->block;
    guard->free_count[class] = BATCH;
  }
  task_spin_unlock(&reclaim->spin);
}

static void make_free(struct task_guard *guard, struct given *given) {
  for (size_t class = 0; class < TASK_BLOCK_MOST; class ++) {
    if (!given->count[class]) {
      continue;
    }
    set_link(given->last[class], guard->free[class]);
    guard->free[class] = given->first[class];
    guard->free_count[class] += given->count[class];
    given->first[class] = NULL;
    given->count[class] = 0;
    while (guard->free_count[class] >= 2 * BATCH) {
      hand_on(guard, class);
    }
  }
}

/* --- entering and leaving --- */

/* The store and the load that follows are in the one order of all that is
   sequentially consistent: either whoever moves the epoch on sees that this
   thread is inside, or this thread sees the new epoch. */
static uint64_t pin(struct task_guard *guard) {
  struct task_reclaim *const reclaim = guard->reclaim;
  uint64_t epoch = atomic_load_explicit(&reclaim->epoch, memory_order_relaxed);
  for (;;) {
    atomic_store_explicit(&guard->pinned, 2 * epoch + 1, memory_order_seq_cst);
    const uint64_t now =
        atomic_load_explicit(&reclaim->epoch, memory_order_seq_cst);
    if (now == epoch) {
      return epoch;
    }
    epoch = now;
  }
}

void task_guard_enter(struct task_guard *guard) {
  const uint64_t epoch = pin(guard);
  if (epoch == guard->epoch) {
    return;
  }
  guard->epoch = epoch;
  for (int i = 0; i < AGES; i++) {
    if (guard->given[i].epoch + SAFE <= epoch) {
      make_free(guard, &guard->given[i]);
    }
  }
}

/* Release: whoever moves the epoch on has what was done inside behind it. */
void task_guard_leave(struct task_guard *guard) {
  atomic_store_explicit(&guard->pinned, 0, memory_order_release);
}

/* Moves the epoch on, unless somebody is pinned at the one before. */
static void move_on(struct task_guard *guard) {
  struct task_reclaim *const reclaim = guard->reclaim;
  uint64_t epoch = guard->epoch;
  for (int t = 0; t < reclaim->threads; t++) {
    const uint64_t pinned =
        atomic_load_explicit(&reclaim->guard[t].pinned, memory_order_seq_cst);
    if (pinned && pinned != 2 * epoch + 1) {
      return;
    }
  }
  atomic_compare_exchange_strong_explicit(&reclaim->epoch, &epoch, epoch + 1,
                                          memory_order_seq_cst,
                                          memory_order_relaxed);
}

/* --- taking and giving --- */

static bool new_slab(struct task_guard *guard) {
  struct task_reclaim *const reclaim = guard->reclaim;
  struct slab *const slab = native_aligned(TASK_LINE, SLAB);
  if (!slab) {
    return false;
  }
  guard->slab = (char *)slab + TASK_LINE;
  guard->slab_left = SLAB - TASK_LINE;
  atomic_fetch_add_explicit(&reclaim->bytes, SLAB, memory_order_relaxed);
  task_spin_lock(&reclaim->spin);
  slab->next = reclaim->slab;
  reclaim->slab = slab;
  task_spin_unlock(&reclaim->spin);
  return true;
}

/* What is left of a slab and too short is lost: less than one block of many. */
static struct task_block *cut(struct task_guard *guard, size_t bytes) {
  if (guard->slab_left < bytes && !new_slab(guard)) {
    return NULL;
  }
  struct task_block *const block = (struct task_block *)guard->slab;
  guard->slab += bytes;
  guard->slab_left -= bytes;
  return block;
}

void *task_guard_take(struct task_guard *guard, size_t lines) {
  const size_t class = lines - 1;
  if (!guard->free[class]) {
    take_batch(guard, class);
  }
  struct task_block *block = guard->free[class];
  if (block) {
    guard->free[class] = get_link(block);
    guard->free_count[class]--;
  } else if (!(block = cut(guard, lines * TASK_LINE))) {
    return NULL;
  }
  atomic_store_explicit(&block->link, 0, memory_order_relaxed);
  return block;
}

void task_guard_give(struct task_guard *guard, void *block, size_t lines) {
  const size_t class = lines - 1;
  /* Whatever the list had before was AGES epochs older, and is free. */
  struct given *const given = &guard->given[guard->epoch % AGES];
  given->epoch = guard->epoch;
  set_link(block, given->first[class]);
  if (!given->count[class]++) {
    given->last[class] = block;
  }
  given->first[class] = block;
  if (--guard->patience <= 0) {
    guard->patience = PATIENCE + guard->reclaim->threads;
    move_on(guard);
  }
}
