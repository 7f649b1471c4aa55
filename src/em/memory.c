#define _GNU_SOURCE
#include "em/memory.h"

#include <sys/mman.h>

/* Smaller buffers gain nothing from huge pages. */
#define HUGE ((size_t)2 << 20)

void memory_init(struct memory *m, uint64_t limit) {
  pthread_mutex_init(&m->lock, NULL);
  m->limit = limit;
  m->used = m->most = 0;
  m->arena = NULL;
}

void memory_destroy(struct memory *m) {
  pthread_mutex_destroy(&m->lock);
}

static size_t rounded(size_t n) {
  return (n + MEMORY_PAGE - 1) & ~(size_t)(MEMORY_PAGE - 1);
}

/* With the lock. */
static void take(struct memory *m, uint64_t n) {
  m->used += n;
  m->most = m->used > m->most ? m->used : m->most;
}

static int fits(struct memory *m, size_t n) {
  pthread_mutex_lock(&m->lock);
  const int room = n <= m->limit && m->used <= m->limit - n;
  if (room)
    take(m, n);
  pthread_mutex_unlock(&m->lock);
  return room;
}

void memory_note(struct memory *m, int64_t n) {
  pthread_mutex_lock(&m->lock);
  if (n >= 0)
    take(m, (uint64_t)n);
  else
    m->used -= (uint64_t)-n;
  pthread_mutex_unlock(&m->lock);
}

uint64_t memory_most(struct memory *m) {
  pthread_mutex_lock(&m->lock);
  const uint64_t most = m->most;
  pthread_mutex_unlock(&m->lock);
  return most;
}

/* Aligned to huge pages where they are wanted: what is too much is given back
   at once. */
static char *map(size_t n) {
  const size_t spare = n >= HUGE ? HUGE : 0;
  char *const all = mmap(NULL, n + spare, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED)
    return NULL;
  if (!spare)
    return all;
  const size_t before = -(size_t)all & (HUGE - 1);
  if (before)
    munmap(all, before);
  if (spare > before)
    munmap(all + before + n, spare - before);
  (void)madvise(all + before, n & ~(HUGE - 1), MADV_HUGEPAGE);
  return all + before;
}

void *memory_get(struct memory *m, size_t n) {
  n = rounded(n ? n : 1);
  if (m->arena)
    return arena_get(m->arena, n);
  if (!fits(m, n))
    return NULL;
  char *const p = map(n);
  if (!p)
    memory_note(m, -(int64_t)n);
  return p;
}

void memory_put(struct memory *m, void *p, size_t n) {
  if (!p)
    return;
  n = rounded(n ? n : 1);
  if (m->arena) {
    arena_put(m->arena, p, n);
    return;
  }
  munmap(p, n);
  memory_note(m, -(int64_t)n);
}
