#include "config/memory_used.h"

#include <stdatomic.h>

static struct {
  _Atomic uint64_t now, most;
} used[MEMORY_USES];

static void note_most(enum memory_use use, uint64_t now) {
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
  uint64_t now = atomic_load_explicit(&used[use].now, memory_order_relaxed);
  do {
    if (bytes > bound || now > bound - bytes) {
      return false;
    }
  } while (!atomic_compare_exchange_weak_explicit(
      &used[use].now, &now, now + bytes, memory_order_relaxed,
      memory_order_relaxed));
  note_most(use, now + bytes);
  return true;
}

void memory_used_sub(enum memory_use use, uint64_t bytes) {
  atomic_fetch_sub_explicit(&used[use].now, bytes, memory_order_relaxed);
}

uint64_t memory_used_now(enum memory_use use) {
  return atomic_load_explicit(&used[use].now, memory_order_relaxed);
}

uint64_t memory_used_most(enum memory_use use) {
  return atomic_load_explicit(&used[use].most, memory_order_relaxed);
}
