#include "config/memory_used.h"

#include "base/invariant.h"

#include <stdatomic.h>

static struct {
  _Atomic uint64_t now, most;
  _Atomic uint64_t limit; /* 0: nothing is lent */
  _Atomic bool wants;
} used[MEMORY_USES];

static void (*on_want)(void);
static atomic_int wanting; /* consumers that want more than their limits */

static void want(enum memory_use use, bool wants) {
  if (atomic_exchange(&used[use].wants, wants) != wants) {
    atomic_fetch_add(&wanting, wants ? 1 : -1);
    if (wants && on_want) {
      on_want();
    }
  }
}

/* Half of the limit is left when more is asked for, as whoever has it needs a
   moment to give it back. */
static void look_at_limit(enum memory_use use, uint64_t now) {
  const uint64_t limit =
      atomic_load_explicit(&used[use].limit, memory_order_relaxed);
  if (limit && now > limit / 2 &&
      !atomic_load_explicit(&used[use].wants, memory_order_relaxed)) {
    want(use, true);
  }
}

static void note_most(enum memory_use use, uint64_t now) {
  look_at_limit(use, now);
  uint64_t most = atomic_load_explicit(&used[use].most, memory_order_relaxed);
  while (now > most && !atomic_compare_exchange_weak_explicit(
                           &used[use].most, &most, now, memory_order_relaxed,
                           memory_order_relaxed)) {
  }
}

void memory_used_add(enum memory_use use, uint64_t bytes) {
  note_most(use, bytes + atomic_fetch_add_explicit(&used[use].now, bytes,
                                                   memory_order_relaxed));
}

bool memory_used_take(enum memory_use use, uint64_t bytes, uint64_t bound) {
  bound = memory_used_bound(use, bound);
  uint64_t now = atomic_load_explicit(&used[use].now, memory_order_relaxed);
  do {
    if (bytes > bound || now > bound - bytes) {
      look_at_limit(use, now + bytes);
      return false;
    }
  } while (!atomic_compare_exchange_weak_explicit(
      &used[use].now, &now, now + bytes, memory_order_relaxed,
      memory_order_relaxed));
  note_most(use, now + bytes);
  return true;
}

void memory_used_sub(enum memory_use use, uint64_t bytes) {
  INVARIANT_IS(bytes, <=, memory_used_now(use));
  atomic_fetch_sub_explicit(&used[use].now, bytes, memory_order_relaxed);
}

uint64_t memory_used_now(enum memory_use use) {
  return atomic_load_explicit(&used[use].now, memory_order_relaxed);
}

uint64_t memory_used_most(enum memory_use use) {
  return atomic_load_explicit(&used[use].most, memory_order_relaxed);
}

/* --- shares that are lent --- */

void memory_used_lend(enum memory_use use, uint64_t share, uint64_t limit) {
  atomic_store(&used[use].limit, limit < share ? limit : 0);
  want(use, false);
}

uint64_t memory_used_bound(enum memory_use use, uint64_t bound) {
  const uint64_t limit =
      atomic_load_explicit(&used[use].limit, memory_order_relaxed);
  return limit && limit < bound ? limit : bound;
}

bool memory_used_wants(enum memory_use use) {
  return atomic_load_explicit(&used[use].wants, memory_order_relaxed);
}

bool memory_used_wanted(void) {
  return atomic_load_explicit(&wanting, memory_order_relaxed) > 0;
}

void memory_used_on_want(void (*f)(void)) {
  on_want = f;
  for (int use = 0; !f && use < MEMORY_USES; use++) {
    memory_used_lend((enum memory_use)use, 0, 0);
  }
}
