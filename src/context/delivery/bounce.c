#include "context/delivery/bounce.h"

#include "config/memory_used.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/pages.h"

#include <pthread.h>
#include <sys/mman.h>

enum { LARGEST = 2 << 20, SMALLEST = 64 << 10, EACH = 4 };

static struct {
  struct lock lock;
  pthread_cond_t freed;
  char *memory;
  size_t size;
  size_t count;
  char **idle; /* stack of free buffers */
  size_t n_idle;
} pool = {.lock = LOCK_INITIALIZER(LOCK_BOUNCE),
          .freed = PTHREAD_COND_INITIALIZER};

/* Buffers for each user: fewer where they would be too small. */
static size_t for_each(size_t users, size_t total) {
  const size_t fit = total / users / SMALLEST;
  return fit > EACH ? EACH : fit ? fit : 1;
}

int bounce_create(size_t users, size_t total) {
  const size_t count = users * for_each(users, total);
  size_t size = total / count / PAGE * PAGE;
  size = size > LARGEST ? LARGEST : size < SMALLEST ? SMALLEST : size;
  char *const memory = mmap(NULL, count * size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return -1;
  }
  pool.idle = native_zalloc(count, sizeof(*pool.idle));
  if (!pool.idle) {
    munmap(memory, count * size);
    return -1;
  }
  pool.memory = memory;
  pool.size = size;
  pool.count = pool.n_idle = count;
  for (size_t i = 0; i < count; i++) {
    pool.idle[i] = pool.memory + (count - 1 - i) * size;
  }
  return 0;
}

void bounce_destroy(void) {
  if (pool.memory) {
    munmap(pool.memory, pool.count * pool.size);
    native_free(pool.idle);
    pool.memory = NULL;
    pool.idle = NULL;
  }
}

/* The last that was put is the first that is taken: the pages of those below
   are never touched while the limit of the share is lower. */
static char *take_locked(void) {
  return pool.n_idle && memory_used_take(MEMORY_STAGING, pool.size,
                                         pool.count * pool.size)
             ? pool.idle[--pool.n_idle]
             : NULL;
}

char *bounce_get(void) {
  char *buffer;
  lock_take(&pool.lock);
  while (!(buffer = take_locked())) {
    lock_wait(&pool.freed, &pool.lock);
  }
  lock_give(&pool.lock);
  return buffer;
}

char *bounce_try(void) {
  lock_take(&pool.lock);
  char *const buffer = take_locked();
  lock_give(&pool.lock);
  return buffer;
}

void bounce_put(char *buffer) {
  lock_take(&pool.lock);
  pool.idle[pool.n_idle++] = buffer;
  memory_used_sub(MEMORY_STAGING, pool.size);
  pthread_cond_signal(&pool.freed);
  lock_give(&pool.lock);
}

size_t bounce_count(void) {
  return pool.count;
}

size_t bounce_size(void) {
  return pool.size;
}
