/* A lock for a few instructions, one word small. */
#ifndef PEMS_OS_SPIN_H
#define PEMS_OS_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>

#include "os/cycle.h"

/* All zero: open. */
struct spin {
  _Atomic int taken;
};

/* Whether it was open, and is the caller's now. The look comes first: a line
   that is only read stays where it is. */
static inline bool task_spin_try(struct spin *spin) {
  return !atomic_load_explicit(&spin->taken, memory_order_relaxed) &&
         !atomic_exchange_explicit(&spin->taken, 1, memory_order_acquire);
}

static inline void task_spin_lock(struct spin *spin) {
  for (unsigned turn = 0; !task_spin_try(spin); turn++) {
    cycle_relax(turn);
  }
}

static inline void task_spin_unlock(struct spin *spin) {
  atomic_store_explicit(&spin->taken, 0, memory_order_release);
}

#endif
