#define _GNU_SOURCE
#include "context/residency/frames.h"

#include "context/internal.h"
#include "os/bits.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/pages.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Each run of frames that is moved by itself may take a mapping of its own, of
   which a process may have a limited number: frames are as large as needed for
   that. */
enum { MOST_FRAMES = 8192 };

/* A place for each frame, in a range of addresses of its own; places that hold
   pages and places that do not are two stacks of runs. */
struct run {
  size_t first; /* place */
  size_t n;
};

static struct {
  struct lock lock;
  char *range; /* which has all places */
  size_t range_len;
  char *base;   /* the first place */
  size_t frame; /* bytes of each */
  bool many;    /* the kernel moves several mappings at once */
  size_t places;
  struct run *full, *empty; /* stacks, at most `places` runs each */
  size_t n_full, n_empty;
  _Atomic uint64_t bytes;
} pool = {.lock = LOCK_INITIALIZER(LOCK_FRAMES)};

/* The source stays a mapping without pages: a hole could be taken by anyone. */
static bool move_one(char *from, char *to, size_t n) {
  return pages_move(from, to, n, true) == 0;
}

/* Linux before 6.17 moves within one mapping only, and finds out after it has
   unmapped the target. */
static bool moves_many(void) {
  char *two = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (two == MAP_FAILED) {
    return false;
  }
  const bool many = mprotect(two, PAGE, PROT_READ) == 0 &&
                    move_one(two, two + 2 * PAGE, 2 * PAGE);
  munmap(two, many ? 4 * PAGE : 2 * PAGE);
  return many;
}

/* Returns the bytes moved. What of the target was unmapped in vain is mapped
   again. */
static size_t move(char *from, char *to, size_t n) {
  const size_t step = pool.many ? n : pool.frame;
  size_t done = 0;
  while (done < n && move_one(from + done, to + done, step)) {
    done += step;
  }
  if (done < n) {
    (void)mmap(to + done, n - done, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                   MAP_FIXED_NOREPLACE,
               -1, 0);
  }
  return done;
}

int frames_create(uint64_t most) {
  pool.frame = HUGE_PAGE;
  pool.many = moves_many();
  while (pool.many && most / pool.frame > MOST_FRAMES) {
    pool.frame *= 2;
  }
  pool.places = most / pool.frame;
  pool.places = pool.places < MOST_FRAMES ? pool.places : MOST_FRAMES;
  if (!pool.places) {
    return -1;
  }
  pool.range_len = (pool.places + 1) * pool.frame;
  pool.range = mmap(NULL, pool.range_len, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pool.full = native_zalloc(pool.places, sizeof(*pool.full));
  pool.empty = native_zalloc(pool.places, sizeof(*pool.empty));
  if (pool.range == MAP_FAILED || !pool.full || !pool.empty) {
    frames_destroy();
    return -1;
  }
  madvise(pool.range, pool.range_len, MADV_HUGEPAGE);
  pool.base = (char *)bits_align_up((uintptr_t)pool.range, pool.frame);
  pool.empty[0] = (struct run){0, pool.places};
  pool.n_empty = 1;
  pool.n_full = 0;
  pool.bytes = 0;
  return 0;
}

void frames_destroy(void) {
  if (pool.range && pool.range != MAP_FAILED) {
    munmap(pool.range, pool.range_len);
  }
  native_free(pool.full);
  native_free(pool.empty);
  pool.range = pool.base = NULL;
  pool.full = pool.empty = NULL;
  pool.places = pool.n_full = pool.n_empty = 0;
  pool.bytes = 0;
}

static char *place(size_t i) {
  return pool.base + i * pool.frame;
}

/* Cuts up to n from the last run of a stack; the run's end, so that the rest
   stays in its place. */
static struct run pop(struct run *stack, size_t *count, size_t n) {
  struct run *top = &stack[*count - 1];
  if (top->n <= n) {
    return stack[--*count];
  }
  top->n -= n;
  return (struct run){top->first + top->n, n};
}

/* Adjacent runs are joined where that costs nothing: with the one on top. */
static void push(struct run *stack, size_t *count, struct run r) {
  struct run *top = *count ? &stack[*count - 1] : NULL;
  if (top && top->first + top->n == r.first) {
    top->n += r.n;
  } else if (top && r.first + r.n == top->first) {
    top->first = r.first;
    top->n += r.n;
  } else {
    stack[(*count)++] = r;
  }
}

/* The first `moved` of r's places were filled, or emptied; the others were not.
 */
static void push_split(struct run r, size_t moved, bool filled) {
  const struct run done = {r.first, moved};
  const struct run rest = {r.first + moved, r.n - moved};
  const struct run now_full = filled ? done : rest;
  const struct run now_empty = filled ? rest : done;
  if (now_full.n) {
    push(pool.full, &pool.n_full, now_full);
  }
  if (now_empty.n) {
    push(pool.empty, &pool.n_empty, now_empty);
  }
}

void frames_keep(uintptr_t start, uintptr_t end) {
  if (!pool.places) {
    return;
  }
  start = bits_align_up(start, pool.frame);
  lock_take(&pool.lock);
  while (start + pool.frame <= end && pool.n_empty) {
    const struct run r =
        pop(pool.empty, &pool.n_empty, (end - start) / pool.frame);
    const size_t n = move((char *)start, place(r.first), r.n * pool.frame);
    push_split(r, n / pool.frame, true);
    pool.bytes += n;
    start += n;
    if (n < r.n * pool.frame) {
      break;
    }
  }
  lock_give(&pool.lock);
}

size_t frames_give(uintptr_t *start, uintptr_t end) {
  if (!pool.places) {
    return 0;
  }
  uintptr_t at = *start = bits_align_up(*start, pool.frame);
  lock_take(&pool.lock);
  while (at + pool.frame <= end && pool.n_full) {
    const struct run r = pop(pool.full, &pool.n_full, (end - at) / pool.frame);
    const size_t n = move(place(r.first), (char *)at, r.n * pool.frame);
    push_split(r, n / pool.frame, false);
    pool.bytes -= n;
    at += n;
    if (n < r.n * pool.frame) {
      break;
    }
  }
  lock_give(&pool.lock);
  return at - *start;
}

void frames_trim(uint64_t bytes) {
  if (pool.bytes <= bytes) {
    return;
  }
  lock_take(&pool.lock);
  while (pool.bytes > bytes) {
    const size_t more = (pool.bytes - bytes - 1) / pool.frame + 1;
    const struct run r = pop(pool.full, &pool.n_full, more);
    madvise(place(r.first), r.n * pool.frame, MADV_DONTNEED);
    push(pool.empty, &pool.n_empty, r);
    pool.bytes -= r.n * pool.frame;
  }
  lock_give(&pool.lock);
}

uint64_t frames_bytes(void) {
  return pool.bytes;
}
