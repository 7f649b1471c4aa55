#define _GNU_SOURCE
#include "em/core/memory.h"
#include "os/bits.h"
#include "os/lock.h"

#include <stdbool.h>
#include <string.h>
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
  m->keeps = false;
  memset(m->kept, 0, sizeof(m->kept));
}

void memory_destroy(struct memory *m) {
  memory_keep(m, false);
  lock_destroy(&m->lock);
}

static size_t rounded(size_t n) {
  return bits_align_up(n, MEMORY_PAGE);
}

/* --- what is kept --- */

static void unmap(struct memory_range r) {
  if (r.n) {
    munmap(r.at, r.n);
  }
}

/* Divides a range, the first part of which has n bytes, rounded up to huge
   pages; returns the rest. */
static struct memory_range cut(struct memory_range *r, size_t n) {
  const size_t first = n < r->n ? bits_align_up(n, HUGE) : r->n;
  const struct memory_range rest = {r->at + first, r->n - first};
  r->n = first;
  return rest;
}

/* No more than that many bytes are kept. */
static void trim_locked(struct memory *m, uint64_t most) {
  for (int i = 0; i < MEMORY_KEPT; i++) {
    struct memory_range *const r = &m->kept[i];
    unmap(cut(r, most < r->n ? most & ~(HUGE - 1) : r->n));
    most -= r->n;
  }
}

static void limit_locked(struct memory *m) {
  trim_locked(m, m->keeps && m->used < m->limit ? m->limit - m->used : 0);
}

static void keep_locked(struct memory *m, struct memory_range r) {
  struct memory_range *least = m->kept;
  for (int i = 1; i < MEMORY_KEPT; i++) {
    least = m->kept[i].n < least->n ? &m->kept[i] : least;
  }
  if (r.n > least->n) {
    const struct memory_range other = *least;
    *least = r;
    r = other;
  }
  unmap(r);
}

/* The smallest that is enough, or else the largest. */
static struct memory_range *choose_locked(struct memory *m, size_t n) {
  struct memory_range *best = m->kept;
  for (int i = 1; i < MEMORY_KEPT; i++) {
    struct memory_range *const r = &m->kept[i];
    if (best->n < n ? r->n > best->n : r->n >= n && r->n < best->n) {
      best = r;
    }
  }
  return best;
}

void memory_keep(struct memory *m, bool keep) {
  lock_take(&m->lock);
  m->keeps = keep;
  limit_locked(m);
  lock_give(&m->lock);
}

void memory_limit(struct memory *m, uint64_t limit) {
  lock_take(&m->lock);
  m->limit = limit;
  limit_locked(m);
  lock_give(&m->lock);
}

/* --- what is used --- */

static void take_locked(struct memory *m, uint64_t n) {
  m->used += n;
  m->most = m->used > m->most ? m->used : m->most;
  limit_locked(m);
}

/* With what of the kept is for it. */
static bool fits(struct memory *m, size_t n, struct memory_range *kept) {
  *kept = (struct memory_range){0};
  lock_take(&m->lock);
  const bool room = n <= m->limit && m->used <= m->limit - n;
  if (room && n >= HUGE) {
    struct memory_range *const r = choose_locked(m, n);
    *kept = *r;
    *r = cut(kept, n);
  }
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

/* The range becomes the beginning of a buffer. Each of its pages is written to
   first, so that the system does not take it while a disk reads into it. */
static char *reuse(struct memory_range r, size_t n) {
  char *p = r.at;
  if (n > r.n) {
    p = map(n);
    if (p && mremap(r.at, r.n, n, MREMAP_MAYMOVE | MREMAP_FIXED, p) != p) {
      munmap(p, n);
      p = NULL;
    }
  } else {
    unmap((struct memory_range){p + n, r.n - n});
  }
  if (!p) {
    unmap(r);
    return NULL;
  }
  for (size_t i = 0; i < r.n && i < n; i += MEMORY_PAGE) {
    *(volatile char *)(p + i) = 0;
  }
  return p;
}

void *memory_get(struct memory *m, size_t n) {
  struct memory_range kept;
  n = rounded(n ? n : 1);
  if (m->arena) {
    return arena_get(m->arena, n);
  }
  if (!fits(m, n, &kept)) {
    return NULL;
  }
  char *p = kept.n ? reuse(kept, n) : map(n);
  if (!p && m->keeps) { /* other pages may be in the way */
    lock_take(&m->lock);
    trim_locked(m, 0);
    lock_give(&m->lock);
    p = map(n);
  }
  if (!p) {
    memory_note(m, -(int64_t)n);
  }
  return p;
}

/* The whole huge pages of a buffer; the rest is given back. */
static void keep(struct memory *m, char *p, size_t n) {
  const size_t before = -(size_t)p & (HUGE - 1);
  if (n < before + HUGE) {
    munmap(p, n);
    return;
  }
  const size_t whole = (n - before) & ~(HUGE - 1);
  const struct memory_range r = {p + before, whole};
  unmap((struct memory_range){p, before});
  unmap((struct memory_range){r.at + whole, n - before - whole});
  (void)madvise(r.at, r.n, MADV_FREE);
  lock_take(&m->lock);
  keep_locked(m, r);
  lock_give(&m->lock);
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
  if (m->keeps) {
    keep(m, p, n);
  } else {
    munmap(p, n);
  }
  memory_note(m, -(int64_t)n);
}
