/* Time and density of the context heap beside glibc's malloc in the same run.
   Prints RESULT lines; times are ns per operation, the best of five rounds. */
#define _GNU_SOURCE
#include "context/heap/heap.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
enum { ROUNDS = 5, PAGE = 4096 };

static uint64_t state = 1;

static uint64_t rnd(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *check(void *p, const char *what) {
  if (p == NULL || p == MAP_FAILED) {
    fprintf(stderr, "bench heap: %s: out of memory: free some\n", what);
    exit(1);
  }
  return p;
}

/* A heap, or glibc's malloc when h is NULL. */
struct subject {
  const char *name;
  struct heap *h;
  char *base;
};

static void *get(const struct subject *s, size_t n) {
  return check(s->h != NULL ? heap_alloc(s->h, n, 16) : malloc(n), "block");
}

static void put(const struct subject *s, void *p) {
  if (s->h != NULL) {
    heap_free(s->h, p);
  } else {
    free(p);
  }
}

static void shuffle(void **p, size_t n) {
  for (size_t i = n; i-- > 1;) {
    const size_t j = rnd() % (i + 1);
    void *const t = p[i];
    p[i] = p[j];
    p[j] = t;
  }
}

/* Allocate a batch, free it: small sizes, in random order or not. */
static void bench_small(const struct subject *s, size_t batch, int mixed) {
  enum { OPS = 1 << 20 };
  void **const p = check(calloc(batch, sizeof(*p)), "table");
  uint64_t best = UINT64_MAX;
  for (int r = 0; r < ROUNDS; r++) {
    const uint64_t start = now_ns();
    for (size_t done = 0; done < OPS; done += batch) {
      for (size_t i = 0; i < batch; i++) {
        p[i] = get(s, mixed ? 1 + (i * 37) % 512 : 48);
      }
      for (size_t i = 0; i < batch; i++) {
        put(s, p[i]);
      }
    }
    const uint64_t t = now_ns() - start;
    best = t < best ? t : best;
  }
  printf("RESULT bench=pair_small subject=%s batch=%zu sizes=%s ns=%.1f\n",
         s->name, batch, mixed ? "1-512" : "48", (double)best / OPS);
  free(p);
}

/* Replaces random ones of a million small blocks. */
static void bench_replace(const struct subject *s) {
  enum { BLOCKS = 1 << 20, OPS = 1 << 20 };
  void **const p = check(calloc(BLOCKS, sizeof(*p)), "table");
  uint64_t best = UINT64_MAX;
  for (size_t i = 0; i < BLOCKS; i++) {
    p[i] = get(s, 1 + rnd() % 128);
  }
  for (int r = 0; r < ROUNDS; r++) {
    const uint64_t start = now_ns();
    for (size_t i = 0; i < OPS; i++) {
      const uint64_t x = rnd();
      put(s, p[x % BLOCKS]);
      p[x % BLOCKS] = get(s, 1 + (x >> 40) % 128);
    }
    const uint64_t t = now_ns() - start;
    best = t < best ? t : best;
  }
  printf("RESULT bench=replace_small subject=%s blocks=%d ns=%.1f\n", s->name,
         BLOCKS, (double)best / OPS);
  for (size_t i = 0; i < BLOCKS; i++) {
    put(s, p[i]);
  }
  free(p);
}

/* Replaces random blocks of about `size` bytes; before that, every second of
   `holes` pairs is freed. New blocks of 100 KB lie on pages that were never
   touched, so that most of their time is page faults. */
static void bench_large(const struct subject *s, size_t size, size_t holes) {
  enum { OPS = 200000 };
  const size_t n = 2 * holes;
  void **const p = check(calloc(n, sizeof(*p)), "table");
  uint64_t best = UINT64_MAX;
  for (size_t i = 0; i < n; i++) {
    p[i] = get(s, size + rnd() % (size / 12));
  }
  for (size_t i = 0; i < n; i += 2) {
    put(s, p[i]);
  }
  for (int r = 0; r < ROUNDS; r++) {
    const uint64_t start = now_ns();
    for (size_t i = 0; i < OPS; i++) {
      const uint64_t x = rnd();
      const size_t j = x % holes * 2 + 1;
      put(s, p[j]);
      p[j] = get(s, size + (x >> 40) % (size / 12));
    }
    const uint64_t t = now_ns() - start;
    best = t < best ? t : best;
  }
  printf("RESULT bench=pair_large subject=%s size=%zu holes=%zu ns=%.1f\n",
         s->name, size, holes, (double)best / OPS);
  if (s->h != NULL) {
    static struct heap_extent x[1 << 18];
    const uint64_t start = now_ns();
    const size_t count = heap_extents(s->h, 0, x, 1 << 18);
    printf("RESULT bench=extents subject=%s extents=%zu us=%.1f\n", s->name,
           count, (double)(now_ns() - start) / 1000);
  }
  for (size_t i = 1; i < n; i += 2) {
    put(s, p[i]);
  }
  free(p);
}

static size_t size_small(void) {
  return 1 + rnd() % 512;
}
static size_t size_mixed(void) {
  const unsigned bits = 4 + (unsigned)(rnd() % 14); /* as many of each scale */
  return ((size_t)1 << bits) + rnd() % ((size_t)1 << bits);
}
static size_t size_uniform(void) {
  return 1 + rnd() % 20000;
}
static size_t size_large(void) {
  return 100000 + rnd() % 900000;
}

static size_t page_total(struct heap *h) {
  static struct heap_extent x[1 << 18];
  const size_t n = heap_extents(h, 0, x, 1 << 18);
  size_t total = 0;
  for (size_t i = 0; i < n; i++) {
    total += x[i].len;
  }
  return total;
}

/* Fills up to `bytes`, then ten times frees half and refills. Touches nothing,
   so that glibc's arena is measured by addresses, as ours is. */
static void bench_density(const struct subject *s, const char *what,
                          size_t (*size)(void), size_t bytes) {
  const size_t most = bytes / 64;
  void **const p = check(calloc(most, sizeof(*p)), "table");
  size_t *const len = check(calloc(most, sizeof(*len)), "table");
  size_t count = 0, live = 0;
  for (int r = 0; r <= 10; r++) {
    while (live < bytes && count < most) {
      len[count] = size();
      p[count] = get(s, len[count]);
      live += len[count++];
    }
    if (r == 10) {
      break;
    }
    for (size_t i = 0, old = count; i < old / 2; i++) {
      const size_t j = rnd() % count;
      put(s, p[j]);
      live -= len[j];
      p[j] = p[--count];
      len[j] = len[count];
    }
  }
  if (s->h != NULL) {
    printf("RESULT bench=density subject=%s sizes=%s live=%zu span=%.3f "
           "extents=%.3f\n",
           s->name, what, live,
           (double)(heap_top(s->h) - s->base) / (double)live,
           (double)page_total(s->h) / (double)live);
  } else {
    const struct mallinfo2 m = mallinfo2();
    printf("RESULT bench=density subject=%s sizes=%s live=%zu span=%.3f\n",
           s->name, what, live, (double)(m.arena + m.hblkhd) / (double)live);
  }
  shuffle(p, count);
  for (size_t i = 0; i < count; i++) {
    put(s, p[i]);
  }
  free(p);
  free(len);
}

/* Vectors that grow by doubling in turn. */
static void bench_vectors(const struct subject *s) {
  enum { VECTORS = 16 };
  char *v[VECTORS] = {NULL};
  if (s->h == NULL) {
    return;
  }
  for (int i = 0; i < VECTORS; i++) {
    v[i] = get(s, 16);
  }
  for (size_t n = 32; n <= 16 * MIB; n *= 2) {
    for (int i = 0; i < VECTORS; i++) {
      v[i] = check(heap_realloc(s->h, v[i], n), "vector");
    }
  }
  printf("RESULT bench=vectors subject=%s span=%.3f extents=%.3f\n", s->name,
         (double)(heap_top(s->h) - s->base) / (double)heap_live(s->h),
         (double)page_total(s->h) / (double)heap_live(s->h));
  for (int i = 0; i < VECTORS; i++) {
    put(s, v[i]);
  }
}

static void bench_all(const struct subject *s) {
  for (int mixed = 0; mixed < 2; mixed++) {
    bench_small(s, 1, mixed);
    bench_small(s, 1024, mixed);
    bench_small(s, 65536, mixed);
  }
  bench_replace(s);
  bench_large(s, 100000, 100);
  bench_large(s, 2000, 100000);
  bench_large(s, 100000,
              s->h != NULL ? 100000 : 1000); /* glibc would touch GiBs */
  bench_density(s, "1-512", size_small, 64 * MIB);
  bench_density(s, "16-256K-log", size_mixed, 256 * MIB);
  bench_density(s, "1-20000", size_uniform, 256 * MIB);
  bench_density(s, "100000-1000000", size_large, GIB);
  bench_vectors(s);
}

int main(void) {
  const size_t limit = 64 * GIB;
  char *map = check(mmap(NULL, limit + 2 * MIB, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
                    "range");
  madvise(map, limit + 2 * MIB, MADV_NOHUGEPAGE);
  char *const base = (char *)(((uintptr_t)map + 2 * MIB - 1) & -(2 * MIB));
  struct heap *const h = check(heap_create(base, limit), "heap");
  const struct subject pems = {"pems", h, base};
  const struct subject glibc = {"glibc", NULL, NULL};
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  bench_all(&pems);
  bench_all(&glibc);
  const bool ok = heap_check(h) == 0;
  heap_destroy(h);
  return ok ? 0 : 1;
}
