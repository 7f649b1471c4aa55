#define _GNU_SOURCE
#include "em/core/memory.h"
#include "os/bits.h"
#include "os/lock.h"

#include <stdbool.h>
#include <sys/mman.h>

/* Smaller buffers gain nothing from huge pages. */
#define HUGE ((size_t)2 << 20)
enum { LITTLE_SHARE = 64 };

void memory_init(struct memory *m, uint64_t limit) {
  lock_init(&m->lock, LOCK_EM_MEMORY);
  m->limit = limit;
  m->used = m->most = m->spare = 0;
  m->arena = NULL;
  m->own = 0;
}

void memory_destroy(struct memory *m) {
  lock_destroy(&m->lock);
}

static size_t rounded(size_t n) {
  return bits_align_up(n, MEMORY_PAGE);
}

static void take_locked(struct memory *m, uint64_t n) {
  m->used += n;
  m->most = m->used > m->most ? m->used : m->most;
}

static int fits(struct memory *m, size_t n) {
  lock_take(&m->lock);
  const bool room = n <= m->limit && m->used <= m->limit - n;
  if (room) {
    take_locked(m, n);
  }
  lock_give(&m->lock);
  return room;
}

static void retire_locked(struct memory *m, uint64_t wanted) {
  size_t n;
  while (m->used + m->spare > wanted) {
    const uint64_t most = m->used + m->spare - wanted;
    void *const range =
        arena_retire(m->arena, most < SIZE_MAX ? (size_t)most : SIZE_MAX, &n);
    if (!range) {
      break;
    }
    if (m->own) {
      (void)madvise(range, n, MADV_DONTNEED);
    }
    m->used -= n;
  }
}

/* Little is not worth restoring: it would soon be retired. */
static void adjust_locked(struct memory *m) {
  const uint64_t wanted = m->used + m->spare;
  if (!m->arena) {
    return;
  }
  if (wanted > m->limit) {
    retire_locked(m, m->limit);
  } else if (m->arena->retired &&
             m->limit - wanted >= m->limit / LITTLE_SHARE) {
    m->used += arena_restore(m->arena, (size_t)(m->limit - wanted));
  }
}

void memory_note(struct memory *m, int64_t n) {
  lock_take(&m->lock);
  m->used += (uint64_t)n;
  adjust_locked(m);
  take_locked(m, 0);
  lock_give(&m->lock);
}

void memory_settle(struct memory *m, uint64_t spare) {
  lock_take(&m->lock);
  m->spare = spare;
  /* Anew, for what is retired lies where there was room at the time, and may
     divide what is free now. */
  if (m->arena) {
    m->used += arena_restore(m->arena, SIZE_MAX);
  }
  adjust_locked(m);
  lock_give(&m->lock);
}

bool memory_fits(struct memory *m, uint64_t n) {
  lock_take(&m->lock);
  const bool fits = n <= m->limit && m->used <= m->limit - n;
  lock_give(&m->lock);
  return fits;
}

uint64_t memory_most(struct memory *m) {
  lock_take(&m->lock);
  const uint64_t most = m->most;
  lock_give(&m->lock);
  return most;
}

/* Aligned to huge pages where they are wanted: what is too much is given back
   at once. */
static char *map(size_t n) {
  const size_t spare = n >= HUGE ? HUGE : 0;
  char *const all = mmap(NULL, n + spare, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) {
    return NULL;
  }
  if (!spare) {
    return all;
  }
  const size_t before = -(size_t)all & (HUGE - 1);
  if (before) {
    munmap(all, before);
  }
  if (spare > before) {
    munmap(all + before + n, spare - before);
  }
  (void)madvise(all + before, n & ~(HUGE - 1), MADV_HUGEPAGE);
  return all + before;
}

void *memory_get(struct memory *m, size_t n) {
  n = rounded(n ? n : 1);
  if (m->arena) {
    return arena_get(m->arena, n);
  }
  if (!fits(m, n)) {
    return NULL;
  }
  char *const p = map(n);
  if (!p) {
    memory_note(m, -(int64_t)n);
  }
  return p;
}

void memory_put(struct memory *m, void *p, size_t n) {
  if (!p) {
    return;
  }
  n = rounded(n ? n : 1);
  if (m->arena) {
    arena_put(m->arena, p, n);
    return;
  }
  munmap(p, n);
  memory_note(m, -(int64_t)n);
}
