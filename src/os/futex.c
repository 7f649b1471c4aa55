#define _GNU_SOURCE
#include "os/futex.h"

#include "os/clock.h"
#include "os/cycle.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void call(void *word, int operation, uint32_t value,
                 const struct timespec *time) {
  syscall(SYS_futex, word, operation, value, time, NULL, 0);
}

void futex_wait(void *word, uint32_t value) {
  call(word, FUTEX_WAIT_PRIVATE, value, NULL);
}

void futex_wake(void *word, uint32_t n) {
  call(word, FUTEX_WAKE_PRIVATE, n, NULL);
}

void futex_wake_all(void *word) {
  futex_wake(word, INT_MAX);
}

enum { NOTHING, POSTED, SLEEPS };

void futex_await(_Atomic uint32_t *word) {
  uint32_t is = NOTHING;
  atomic_compare_exchange_strong(word, &is, SLEEPS);
  while (is != POSTED) {
    futex_wait(word, SLEEPS);
    is = atomic_load_explicit(word, memory_order_acquire);
  }
  atomic_store_explicit(word, NOTHING, memory_order_relaxed);
}

void futex_post(_Atomic uint32_t *word) {
  if (atomic_exchange(word, POSTED) == SLEEPS) {
    futex_wake(word, 1);
  }
}

bool futex_is_posted(const _Atomic uint32_t *word) {
  return atomic_load_explicit(word, memory_order_relaxed) == POSTED;
}

bool futex_take(_Atomic uint32_t *word) {
  const bool posted =
      atomic_load_explicit(word, memory_order_acquire) == POSTED;
  if (posted) {
    atomic_store_explicit(word, NOTHING, memory_order_relaxed);
  }
  return posted;
}

bool futex_glance(_Atomic uint32_t *word, uint64_t ns) {
  const uint64_t until = clock_ns() + ns;
  do {
    for (int i = 0; i < 16; i++) {
      if (futex_is_posted(word)) {
        return true;
      }
      cycle_pause();
    }
  } while (clock_ns() < until);
  return false;
}

void futex_shared_wait(void *word, uint32_t value, int64_t ns) {
  const struct timespec time = {ns / 1000000000, ns % 1000000000};
  call(word, FUTEX_WAIT, value, &time);
}

void futex_shared_wake(void *word, uint32_t n) {
  call(word, FUTEX_WAKE, n, NULL);
}
