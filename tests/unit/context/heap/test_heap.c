#define _GNU_SOURCE
#include "context/heap/heap.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "check_main.h"
#include "context/heap/heap_tree.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
enum { PAGE = 4096 };

/* A small generator of our own: a seed means the same everywhere. */
static uint64_t state;

static uint64_t rnd(void) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t x = state;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static size_t below(size_t n) {
  return (size_t)(rnd() % n);
}

/* ck_assert writes to a file each time, too slow for millions of checks. */
static void must(bool holds, const char *what) {
  if (!holds) {
    ck_abort_msg("%s", what);
  }
}

/* ---- a heap with its range ---- */

struct arena {
  char *map;
  size_t map_len;
  char *base;
  size_t limit;
  struct heap *h;
};

static struct arena arena_make(size_t limit) {
  struct arena a = {.limit = limit, .map_len = limit + 4 * MIB};
  a.map = mmap(NULL, a.map_len, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ck_assert(a.map != MAP_FAILED);
  madvise(a.map, a.map_len, MADV_NOHUGEPAGE);
  a.base = (char *)(((uintptr_t)a.map + 2 * MIB) & -(2 * MIB));
  a.h = heap_create(a.base, limit);
  ck_assert_ptr_nonnull(a.h);
  return a;
}

static void arena_end(struct arena *a) {
  ck_assert_int_eq(heap_check(a->h), 0);
  heap_destroy(a->h);
  munmap(a->map, a->map_len);
}

static size_t resident(char *p, size_t len) {
  const size_t pages = (len + PAGE - 1) / PAGE;
  unsigned char *const vec = malloc(pages);
  size_t n = 0;
  ck_assert_int_eq(mincore(p, len, vec), 0);
  for (size_t i = 0; i < pages; i++) {
    n += vec[i] & 1;
  }
  free(vec);
  return n;
}

static size_t extents_total(struct heap *h) {
  struct heap_extent x[4096];
  const size_t n = heap_extents(h, 0, x, 4096);
  size_t total = 0;
  for (size_t i = 0; i < n; i++) {
    total += x[i].len;
  }
  return total;
}

/* ---- the model ---- */

struct block {
  unsigned char *p;
  size_t n;
  unsigned char seed;
};

struct model {
  struct arena a;
  struct block *blocks;
  size_t count, most;
  size_t largest; /* bytes asked for at once */
};

/* Calls f on the bytes of a block that the model fills and checks: all of a
   small block, a sample of a large one. */
static size_t sample_next(size_t i, size_t n) {
  if (n <= 4 * KIB || i < 256 || i + 256 >= n) {
    return i + 1;
  }
  const size_t next = i + 509;
  return next + 256 < n ? next : n - 256;
}

static unsigned char pattern(const struct block *b, size_t i) {
  return (unsigned char)(b->seed + i * 37 + (i >> 8));
}

static void fill(const struct block *b) {
  for (size_t i = 0; i < b->n; i = sample_next(i, b->n)) {
    b->p[i] = pattern(b, i);
  }
}

static void verify(const struct block *b, size_t n) {
  for (size_t i = 0; i < n; i = sample_next(i, b->n)) {
    if (b->p[i] != pattern(b, i)) {
      ck_abort_msg("block %p of %zu bytes changed at %zu", (void *)b->p, b->n,
                   i);
    }
  }
}

static size_t random_size(const struct model *m) {
  switch (below(8)) {
  case 0:
    return below(m->largest);
  case 1:
    return below(8 * KIB) % m->largest;
  case 2:
    return 480 + below(64);
  case 3:
    return below(4) * PAGE + below(33);
  default:
    return below(600);
  }
}

static void check_place(const struct model *m, const struct block *b,
                        size_t align) {
  const char *p = (const char *)b->p;
  must(p >= m->a.base && p + b->n <= heap_top(m->a.h), "within the used part");
  must(heap_top(m->a.h) <= m->a.base + m->a.limit, "within the limit");
  must((uintptr_t)p % (align < 16 ? 16 : align) == 0, "aligned");
  must(heap_usable_size(m->a.h, p) >= b->n, "large enough");
}

static void model_alloc(struct model *m) {
  if (m->count == m->most) {
    return;
  }
  struct block b = {.n = random_size(m), .seed = (unsigned char)rnd()};
  const bool zero = below(3) == 0;
  size_t align = 16;
  if (zero) {
    b.p = heap_zalloc(m->a.h, b.n);
  } else {
    if (below(4) == 0) {
      align = (size_t)1 << below(below(8) == 0 ? 18 : 11);
    }
    b.p = heap_alloc(m->a.h, b.n, align);
  }
  if (b.p == NULL) {
    return;
  }
  check_place(m, &b, align);
  if (zero) {
    for (size_t i = 0; i < b.n; i++) {
      must(b.p[i] == 0, "zeroed");
    }
  }
  fill(&b);
  m->blocks[m->count++] = b;
}

static void model_free(struct model *m, size_t i) {
  struct block b = m->blocks[i];
  verify(&b, b.n);
  must(heap_free(m->a.h, b.p) == 0, "freed");
  must(heap_free(m->a.h, b.p) == -1, "double free found");
  must(heap_usable_size(m->a.h, b.p) == 0, "no size once freed");
  m->blocks[i] = m->blocks[--m->count];
}

static void model_realloc(struct model *m, struct block *b) {
  const size_t n = below(2) ? b->n * 2 + 1 : random_size(m) + 1;
  unsigned char *const p = heap_realloc(m->a.h, b->p, n);
  if (p == NULL) {
    verify(b, b->n);
    return;
  }
  const size_t same = n < b->n ? n : b->n;
  b->p = p;
  verify(b, same);
  b->n = n;
  check_place(m, b, 16);
  fill(b);
}

/* Keeps what heap_extents names, destroys all else, comes back. */
static void model_swap(struct model *m) {
  enum { MOST = 64 };
  struct heap_extent x[MOST];
  const struct arena *const a = &m->a;
  const size_t merge = below(2) ? 0 : below(64 * KIB);
  const size_t max = 1 + below(MOST);
  const int zeroed = (int)below(2);
  const size_t n = heap_extents(a->h, merge, x, max);
  const size_t len = (a->limit + PAGE - 1) / PAGE * PAGE;
  char *const all = malloc(len);
  char *last = a->base;
  ck_assert_uint_le(n, max);
  memcpy(all, a->base, len);
  if (zeroed) {
    madvise(a->base, len, MADV_DONTNEED);
  } else {
    memset(a->base, (int)rnd(), len);
  }
  for (size_t i = 0; i < n; i++) {
    must((uintptr_t)x[i].start % PAGE == 0, "extent starts at a page");
    must(x[i].len > 0 && x[i].len % PAGE == 0, "extent has whole pages");
    must(x[i].start >= last, "extents in order");
    must(i == 0 || (size_t)(x[i].start - last) >= (merge ? merge : 1),
         "small gaps closed");
    last = x[i].start + x[i].len;
    memcpy(x[i].start, all + (x[i].start - a->base), x[i].len);
  }
  must(last >= heap_top(a->h) && last < heap_top(a->h) + PAGE,
       "extents end at the top");
  free(all);
  heap_swapped(a->h, zeroed);
  ck_assert_int_eq(heap_check(a->h), 0);
}

static int by_address(const void *x, const void *y) {
  const struct block *a = x, *b = y;
  return (a->p > b->p) - (a->p < b->p);
}

static void model_check(struct model *m) {
  size_t usable = 0;
  ck_assert_int_eq(heap_check(m->a.h), 0);
  qsort(m->blocks, m->count, sizeof(*m->blocks), by_address);
  for (size_t i = 0; i < m->count; i++) {
    const struct block *const b = &m->blocks[i];
    verify(b, b->n);
    usable += heap_usable_size(m->a.h, b->p);
    if (i > 0) {
      must(b[-1].p + b[-1].n <= b->p && b[-1].p < b->p, "no overlap");
    }
  }
  ck_assert_uint_eq(usable, heap_live(m->a.h));
}

static void model_wild(struct model *m) {
  char *const p = m->a.base + below(m->a.limit + 64) - 32;
  for (size_t i = 0; i < m->count; i++) {
    if ((char *)m->blocks[i].p == p) {
      return;
    }
  }
  must(heap_free(m->a.h, p) == -1, "wild free found");
  must(heap_realloc(m->a.h, p, 100) == NULL, "wild realloc found");
}

static void model_run(uint64_t seed, size_t limit, size_t most, size_t largest,
                      int steps) {
  struct model m = {.a = arena_make(limit), .most = most, .largest = largest};
  m.blocks = calloc(most, sizeof(*m.blocks));
  state = seed;
  const unsigned frees = 20 + (unsigned)below(45); /* per cent */
  for (int i = 0; i < steps; i++) {
    const unsigned what = (unsigned)below(100);
    if (what < frees && m.count > 0) {
      model_free(&m, below(m.count));
    } else if (what < 85) {
      model_alloc(&m);
    } else if (what < 96 && m.count > 0) {
      model_realloc(&m, &m.blocks[below(m.count)]);
    } else if (what < 98) {
      model_wild(&m);
    } else if (below(1 + (size_t)steps / 200) == 0) {
      model_swap(&m);
    }
    if (i % (steps < 3000 ? 97 : steps / 30) == 0) {
      model_check(&m);
    }
  }
  model_check(&m);
  while (m.count > 0) {
    model_free(&m, below(m.count));
  }
  ck_assert_uint_eq(heap_live(m.a.h), 0);
  ck_assert_uint_eq(extents_total(m.a.h), 0);
  ck_assert_ptr_eq(heap_top(m.a.h), m.a.base);
  arena_end(&m.a);
  free(m.blocks);
}

static int many(int n) {
  return getenv("PEMS_TEST_FEW") != NULL ? n / 20 : n;
}

START_TEST(model_small) {
  for (int seed = 0; seed < many(1000); seed++) {
    model_run((uint64_t)seed, 512 * KIB + (size_t)seed % 64 * 1000, 300,
              64 * KIB, 400);
  }
}
END_TEST

/* Limits of a few pages: nearly everything fails, nothing may break. */
START_TEST(model_tiny) {
  for (int seed = 0; seed < many(1000); seed++) {
    model_run(1000000u + (uint64_t)seed, (size_t)seed * 37 % (40 * KIB), 100,
              8 * KIB, 300);
  }
}
END_TEST

START_TEST(model_large) {
  for (int seed = 0; seed < 4; seed++) {
    model_run(2000000u + (uint64_t)seed, 48 * MIB, 20000, 256 * KIB, 20000);
  }
}
END_TEST

/* ---- single properties ---- */

START_TEST(create_fails) {
  struct arena a = arena_make(MIB);
  ck_assert_ptr_null(heap_create(a.base, SIZE_MAX));
  struct rlimit old;
  ck_assert_int_eq(getrlimit(RLIMIT_AS, &old), 0);
  const struct rlimit none = {PAGE, old.rlim_max};
  ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
  struct heap *const h = heap_create(a.base, MIB);
  ck_assert_int_eq(setrlimit(RLIMIT_AS, &old), 0);
  ck_assert_ptr_null(h);
  heap_destroy(NULL);
  arena_end(&a);
}
END_TEST

START_TEST(zero_bytes) {
  struct arena a = arena_make(MIB);
  char *const p = heap_alloc(a.h, 0, 1);
  char *const q = heap_zalloc(a.h, 0);
  ck_assert(p != NULL && q != NULL && p != q);
  ck_assert_int_eq(heap_free(a.h, p), 0);
  ck_assert_int_eq(heap_free(a.h, q), 0);
  arena_end(&a);
}
END_TEST

START_TEST(absurd_sizes) {
  struct arena a = arena_make(MIB);
  const size_t absurd[] = {
      SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2 + 1, MIB,
      MIB - 15, MIB + 1,       (size_t)1 << 46,  ((size_t)1 << 46) - 1};
  char *const p = heap_alloc(a.h, 1000, 16);
  char *const q = heap_alloc(a.h, 10, 16);
  for (size_t i = 0; i < sizeof(absurd) / sizeof(*absurd); i++) {
    ck_assert_ptr_null(heap_alloc(a.h, absurd[i], 16));
    ck_assert_ptr_null(heap_zalloc(a.h, absurd[i]));
    ck_assert_ptr_null(heap_realloc(a.h, p, absurd[i]));
    ck_assert_ptr_null(heap_realloc(a.h, q, absurd[i]));
  }
  ck_assert_ptr_null(heap_alloc(a.h, 16, (size_t)1 << 63));
  ck_assert_ptr_null(heap_alloc(a.h, 16, (size_t)1 << 45));
  ck_assert_int_eq(heap_free(a.h, p), 0);
  ck_assert_int_eq(heap_free(a.h, q), 0);
  arena_end(&a);
}
END_TEST

START_TEST(whole_limit) {
  struct arena a = arena_make(3 * MIB);
  char *p = heap_alloc(a.h, 3 * MIB - 16, 16);
  ck_assert_ptr_eq(p, a.base + 16);
  memset(p, 1, 3 * MIB - 16);
  ck_assert_ptr_null(heap_alloc(a.h, 1, 16));
  ck_assert_int_eq(heap_free(a.h, p), 0);
  ck_assert_ptr_eq(heap_top(a.h), a.base);
  /* one byte more than fits does not */
  ck_assert_ptr_null(heap_alloc(a.h, 3 * MIB - 15, 16));
  p = heap_zalloc(a.h, 3 * MIB - 16);
  for (size_t i = 0; i < 3 * MIB - 16; i++) {
    must(p[i] == 0, "zeroed");
  }
  arena_end(&a);
}
END_TEST

static void exhaust(size_t n) {
  struct arena a = arena_make(2 * MIB);
  static char *p[2 * MIB / 16];
  for (int round = 0; round < 2; round++) {
    size_t count = 0;
    while ((p[count] = heap_alloc(a.h, n, 16)) != NULL) {
      count++;
    }
    ck_assert_uint_gt(heap_live(a.h), 2 * MIB * 95 / 100);
    ck_assert_int_eq(heap_check(a.h), 0);
    for (size_t i = 0; i < count; i += 2) {
      must(heap_free(a.h, p[i]) == 0, "freed");
    }
    for (size_t i = 0; i < count; i += 2) {
      p[i] = heap_alloc(a.h, n, 16);
      must(p[i] != NULL, "reused");
    }
    ck_assert_ptr_null(heap_alloc(a.h, n, 16));
    ck_assert_int_eq(heap_check(a.h), 0);
    for (size_t i = count; i-- > 0;) {
      must(heap_free(a.h, p[i]) == 0, "freed");
    }
  }
  arena_end(&a);
}

START_TEST(exhaustion) {
  exhaust(1);
  exhaust(16);
  exhaust(200);
  exhaust(512);
  exhaust(513);
  exhaust(5000);
}
END_TEST

/* Empty slabs are kept only as long as nobody else needs them. */
START_TEST(exhaustion_takes_kept_slabs) {
  struct arena a = arena_make(MIB);
  char *const small = heap_alloc(a.h, 100, 16);
  char *const big = heap_alloc(a.h, MIB / 2, 16);
  ck_assert_int_eq(heap_free(a.h, small), 0);
  ck_assert_int_eq(heap_free(a.h, big), 0);
  ck_assert_ptr_nonnull(heap_alloc(a.h, MIB - 16, 16));
  arena_end(&a);
}
END_TEST

START_TEST(every_alignment) {
  struct arena a = arena_make(8 * GIB);
  for (size_t align = 1; align <= GIB; align *= 2) {
    char *p[4];
    for (int i = 0; i < 4; i++) {
      p[i] = heap_alloc(a.h, 24, align);
      ck_assert_ptr_nonnull(p[i]);
      ck_assert_uint_eq((uintptr_t)p[i] % align, 0);
    }
    /* what was skipped serves others */
    if (align >= 64 * KIB) {
      char *const q = heap_alloc(a.h, align / 2, 16);
      ck_assert(q < p[3]);
      ck_assert_int_eq(heap_free(a.h, q), 0);
    }
    for (int i = 0; i < 4; i++) {
      ck_assert_int_eq(heap_free(a.h, p[i]), 0);
    }
  }
  ck_assert_uint_eq(extents_total(a.h), 0);
  ck_assert_ptr_eq(heap_top(a.h), a.base);
  arena_end(&a);
}
END_TEST

/* More free ranges than are tried that are large enough but lie wrongly. */
START_TEST(aligned_among_misfits) {
  struct arena a = arena_make(64 * MIB);
  char *p[200];
  for (int i = 0; i < 200; i++) {
    p[i] = heap_alloc(a.h, i == 198 ? 17 * KIB : 5000, 16);
  }
  for (int i = 0; i < 200; i += 2) {
    heap_free(a.h, p[i]);
  }
  char *const q = heap_alloc(a.h, 4500, 4096);
  ck_assert(q > p[0] && q < p[199]);
  arena_end(&a);
}
END_TEST

START_TEST(lowest_address_first) {
  struct arena a = arena_make(64 * MIB);
  char *p[100];
  const size_t sizes[] = {64, 512, 600, 40000};
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < 100; i++) {
      p[i] = heap_alloc(a.h, sizes[s], 16);
      if (i > 0) {
        ck_assert(p[i] > p[i - 1]);
      }
    }
    const int order[] = {70, 20, 50, 90, 30};
    const int sorted[] = {20, 30, 50, 70, 90};
    for (int i = 0; i < 5; i++) {
      ck_assert_int_eq(heap_free(a.h, p[order[i]]), 0);
    }
    for (int i = 0; i < 5; i++) {
      ck_assert_ptr_eq(heap_alloc(a.h, sizes[s], 16), p[sorted[i]]);
    }
  }
  arena_end(&a);
}
END_TEST

static void shuffle(char **p, size_t n) {
  for (size_t i = n; i-- > 1;) {
    const size_t j = below(i + 1);
    char *const t = p[i];
    p[i] = p[j];
    p[j] = t;
  }
}

START_TEST(lowest_slab_first) {
  struct arena a = arena_make(64 * MIB);
  enum { N = 100000 };
  static char *p[N];
  char *last = NULL;
  for (int i = 0; i < N; i++) {
    p[i] = heap_alloc(a.h, 48, 16);
  }
  state = 5;
  shuffle(p, N);
  for (int i = 0; i < N / 2; i++) {
    must(heap_free(a.h, p[i]) == 0, "freed");
  }
  for (int i = 0; i < N / 2; i++) {
    p[i] = heap_alloc(a.h, 48, 16);
    must(p[i] > last, "lowest first");
    last = p[i];
  }
  ck_assert_int_eq(heap_check(a.h), 0);
  arena_end(&a);
}
END_TEST

/* Slabs become empty, and leave, wherever they stand among the others. */
START_TEST(slabs_empty_in_any_order) {
  struct arena a = arena_make(64 * MIB);
  enum { N = 20000 };
  static char *p[N];
  state = 6;
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < N; i++) {
      p[i] = heap_alloc(a.h, 512, 16);
    }
    shuffle(p, N);
    for (int i = 0; i < N; i++) {
      must(heap_free(a.h, p[i]) == 0, "freed");
      must(i % 500 != 0 || heap_check(a.h) == 0, "consistent");
      if (i % 3 == 0) {
        p[i] = heap_alloc(a.h, 512, 16);
        must(heap_free(a.h, p[i]) == 0, "freed");
      }
    }
    ck_assert_uint_eq(extents_total(a.h), 0);
  }
  arena_end(&a);
}
END_TEST

START_TEST(bad_frees) {
  struct arena a = arena_make(16 * MIB);
  char *const small = heap_alloc(a.h, 100, 16);
  char *const big = heap_alloc(a.h, 100000, 16);
  char *const last = heap_alloc(a.h, 1000, 16);
  int local;
  memset(big, 0xff, 100000);
  char *const bad[] = {
      NULL,          (char *)&local,    a.base - 16,        a.base,
      a.base + 16,   small + 1,         small + 8,          small + 16,
      small + 112, /* the next slot, which is free */
      big - 16,      big + 16,          big + 50000,        last + 16,
      heap_top(a.h), a.base + 16 * MIB, (char *)UINTPTR_MAX};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    ck_assert_int_eq(heap_free(a.h, bad[i]), -1);
    ck_assert_uint_eq(heap_usable_size(a.h, bad[i]), 0);
  }
  /* a copy of a real header is no header */
  memcpy(big + 16, big - 16, 16);
  ck_assert_int_eq(heap_free(a.h, big + 32), -1);
  ck_assert_int_eq(heap_free(a.h, small), 0);
  ck_assert_int_eq(heap_free(a.h, small), -1);
  ck_assert_int_eq(heap_free(a.h, big), 0);
  ck_assert_int_eq(heap_free(a.h, big), -1);
  ck_assert_ptr_null(heap_realloc(a.h, big, 10));
  ck_assert_ptr_null(heap_realloc(a.h, small, 10));
  ck_assert_int_eq(heap_free(a.h, last), 0);
  ck_assert_int_eq(heap_free(a.h, last), -1);
  arena_end(&a);
}
END_TEST

/* An old header that comes back with a page that was not swapped. */
START_TEST(free_of_resurrected_header) {
  struct arena a = arena_make(16 * MIB);
  char header[16];
  char *const p = heap_alloc(a.h, 100000, 16);
  char *const q = heap_alloc(a.h, 1000, 16);
  memcpy(header, p - 16, 16);
  ck_assert_int_eq(heap_free(a.h, p), 0);
  memcpy(p - 16, header, 16);
  ck_assert_int_eq(heap_free(a.h, p), -1);
  ck_assert_int_eq(heap_free(a.h, q), 0);
  memcpy(p - 16, header, 16);
  ck_assert_int_eq(heap_free(a.h, p), -1);
  arena_end(&a);
}
END_TEST

START_TEST(realloc_in_place) {
  struct arena a = arena_make(64 * MIB);
  char *const p = heap_alloc(a.h, 10000, 16);
  char *const q = heap_alloc(a.h, 20000, 16);
  char *const r = heap_alloc(a.h, 1000, 16);
  ck_assert_ptr_eq(heap_realloc(a.h, r, 5 * MIB), r); /* into the top */
  ck_assert_ptr_eq(heap_realloc(a.h, r, 1000), r);
  ck_assert(heap_top(a.h) <= r + 1024);
  heap_free(a.h, q);
  ck_assert_ptr_eq(heap_realloc(a.h, p, 30000), p); /* into the neighbour */
  ck_assert_ptr_eq(heap_realloc(a.h, p, 30016), p); /* all of it */
  ck_assert_uint_eq(heap_usable_size(a.h, p), 30016);
  ck_assert_ptr_eq(heap_realloc(a.h, p, 600), p);
  ck_assert_ptr_eq(heap_alloc(a.h, 20000, 16), p + 624);
  ck_assert_ptr_ne(heap_realloc(a.h, p, 30000), p);
  arena_end(&a);
}
END_TEST

/* A block slides down into the free range before it. */
START_TEST(realloc_overlapping) {
  struct arena a = arena_make(MIB);
  char *const p = heap_alloc(a.h, 100000, 16);
  char *const q = heap_alloc(a.h, 500000, 16);
  char *const r = heap_alloc(a.h, 300000, 16);
  for (int i = 0; i < 500000; i++) {
    q[i] = (char)(i * 7 + i / 999);
  }
  heap_free(a.h, p);
  ck_assert_ptr_eq(heap_realloc(a.h, q, 600000), p);
  for (int i = 0; i < 500000; i++) {
    must(p[i] == (char)(i * 7 + i / 999), "contents kept");
  }
  ck_assert_int_eq(heap_free(a.h, q), -1);
  ck_assert_ptr_null(heap_realloc(a.h, p, 700000));
  ck_assert_int_eq(p[499999], (char)(499999 * 7 + 499999 / 999));
  heap_free(a.h, r);
  ck_assert_ptr_eq(heap_realloc(a.h, p, 700000), p);
  arena_end(&a);
}
END_TEST

START_TEST(realloc_small) {
  struct arena a = arena_make(MIB);
  char *p = heap_alloc(a.h, 1, 16);
  *p = 42;
  for (size_t n = 2; n < 100000; n = n * 3 / 2 + 1) {
    p = heap_realloc(a.h, p, n);
    ck_assert_int_eq(*p, 42);
    ck_assert_uint_ge(heap_usable_size(a.h, p), n);
    memset(p + 1, 1, n - 1);
  }
  ck_assert_int_eq(heap_free(a.h, p), 0);
  p = heap_alloc(a.h, 512, 16);
  ck_assert_ptr_eq(heap_realloc(a.h, p, 400), p);
  *p = 43;
  p = heap_realloc(a.h, p, 30);
  ck_assert_int_eq(*p, 43);
  ck_assert_uint_eq(heap_usable_size(a.h, p), 32);
  arena_end(&a);
}
END_TEST

/* Shrinking needs no room: it must not fail in a full heap. */
START_TEST(realloc_small_when_full) {
  struct arena a = arena_make(64 * KIB);
  char *p = heap_alloc(a.h, 512, 16);
  while (heap_alloc(a.h, 512, 16) != NULL || heap_alloc(a.h, 16, 16) != NULL)
    ;
  ck_assert_ptr_eq(heap_realloc(a.h, p, 30), p);
  ck_assert_ptr_null(heap_realloc(a.h, p, 5000));
  arena_end(&a);
}
END_TEST

START_TEST(doubling_vectors_are_dense) {
  struct arena a = arena_make(GIB);
  char *v[8];
  for (int i = 0; i < 8; i++) {
    v[i] = heap_alloc(a.h, 8, 16);
  }
  for (size_t n = 16; n <= 8 * MIB; n *= 2) {
    for (int i = 0; i < 8; i++) {
      v[i] = heap_realloc(a.h, v[i], n);
    }
  }
  ck_assert_uint_le((size_t)(heap_top(a.h) - a.base), 2 * heap_live(a.h));
  ck_assert_uint_le(extents_total(a.h), heap_live(a.h) + 200 * KIB);
  arena_end(&a);
}
END_TEST

START_TEST(fresh_zeroed_memory_is_not_touched) {
  struct arena a = arena_make(256 * MIB);
  char *p = heap_zalloc(a.h, 64 * MIB);
  ck_assert_uint_le(resident(a.base, 256 * MIB), 1);
  memset(p, 1, MIB);
  heap_free(a.h, p);
  p = heap_zalloc(a.h, 128 * MIB);
  ck_assert_int_eq(p[MIB - 1], 0);
  ck_assert_uint_le(resident(a.base, 256 * MIB), 64 * MIB / PAGE + 1);
  heap_free(a.h, p);
  /* swapped out and in: nothing is left, or who knows what */
  struct heap_extent x;
  ck_assert_uint_eq(heap_extents(a.h, 0, &x, 1), 0);
  madvise(a.base, 256 * MIB, MADV_DONTNEED);
  heap_swapped(a.h, 1);
  p = heap_zalloc(a.h, 128 * MIB);
  ck_assert_uint_le(resident(a.base, 256 * MIB), 1);
  heap_free(a.h, p);
  memset(a.base, 7, 256 * MIB);
  heap_swapped(a.h, 0);
  p = heap_zalloc(a.h, 200 * MIB);
  for (size_t i = 0; i < 200 * MIB; i++) {
    if (p[i] != 0) {
      ck_abort_msg("byte %zu is not zero", i);
    }
  }
  arena_end(&a);
}
END_TEST

/* Whatever address of a block is asked for. */
static void must_hold(const struct arena *a, char *p, size_t n, size_t at) {
  char *start;
  size_t size;
  must(heap_block(a->h, p + at, &start, &size) == 1 && start == p && size == n,
       "the block around an address of it");
}

static int found(const struct arena *a, const void *p) {
  char *start;
  size_t size;
  return heap_block(a->h, p, &start, &size);
}

START_TEST(blocks_are_found) {
  enum { BLOCKS = 500, STEPS = 20000 };
  static char *block[BLOCKS];
  struct arena a = arena_make(64 * MIB);
  state = 7;
  for (int i = 0; i < STEPS; i++) {
    char **p = &block[below(BLOCKS)];
    if (*p) {
      const size_t n = heap_usable_size(a.h, *p);
      must_hold(&a, *p, n, 0);
      must_hold(&a, *p, n, n - 1);
      must_hold(&a, *p, n, below(n));
      must(heap_free(a.h, *p) == 0, "a free");
      must(found(&a, *p) == 0, "nothing where a block was");
      *p = NULL;
    } else {
      const size_t n = below(4) ? 1 + below(600) : 1 + below(20000);
      *p = heap_alloc(a.h, n, (size_t)16 << below(below(8) ? 1 : 8));
      must(*p != NULL, "room");
    }
  }
  ck_assert_int_eq(found(&a, a.base - 1), 0);
  ck_assert_int_eq(found(&a, heap_top(a.h)), 0);
  ck_assert_int_eq(found(&a, a.base + a.limit), 0);
  arena_end(&a);
}
END_TEST

START_TEST(a_header_is_no_block) {
  struct arena a = arena_make(64 * MIB);
  char *p = heap_alloc(a.h, 1000, 16), *q = heap_alloc(a.h, 1000, 16);
  ck_assert_int_eq(found(&a, q - 1), 0);
  memset(p, 1, (size_t)(q - p)); /* up to its neighbour */
  ck_assert_int_eq(found(&a, q), -1);
  must_hold(&a, p, heap_usable_size(a.h, p), 0);
  heap_destroy(a.h); /* which is not consistent any more */
  munmap(a.map, a.map_len);
}
END_TEST

START_TEST(extents_of_large_blocks) {
  struct arena a = arena_make(GIB);
  char *p[64];
  struct heap_extent x[64];
  ck_assert_uint_eq(heap_extents(a.h, 0, x, 64), 0);
  for (int i = 0; i < 64; i++) {
    p[i] = heap_alloc(a.h, MIB, 16);
  }
  ck_assert_uint_eq(heap_extents(a.h, 0, x, 64), 1);
  ck_assert_ptr_eq(x[0].start, a.base);
  for (int i = 0; i < 64; i += 2) {
    heap_free(a.h, p[i]);
  }
  ck_assert_uint_eq(heap_extents(a.h, 0, x, 0), 0);
  ck_assert_uint_eq(heap_extents(a.h, 0, x, 64), 32);
  ck_assert(x[0].start > a.base);
  ck_assert_uint_le(extents_total(a.h), heap_live(a.h) * 101 / 100);
  /* too few: the last ones are one */
  ck_assert_uint_eq(heap_extents(a.h, 0, x, 3), 3);
  ck_assert(x[1].len < 2 * MIB);
  ck_assert(x[2].start + x[2].len >= heap_top(a.h));
  /* gaps of less than 2 MiB are not worth an extent */
  ck_assert_uint_eq(heap_extents(a.h, 2 * MIB, x, 64), 1);
  heap_free(a.h, p[31]);
  ck_assert_uint_eq(heap_extents(a.h, 2 * MIB, x, 64), 2);
  arena_end(&a);
}
END_TEST

START_TEST(a_tebibyte) {
  const size_t tib = 1024 * GIB;
  void *const room = mmap(NULL, tib + 4 * MIB, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    printf("skipped: a_tebibyte: so much address space cannot be had here\n");
    return;
  }
  munmap(room, tib + 4 * MIB);
  struct arena a = arena_make(tib);
  char *p = heap_alloc(a.h, tib - 16, 16);
  ck_assert_ptr_nonnull(p);
  p[tib - 17] = 1;
  ck_assert_int_eq(heap_free(a.h, p), 0);
  char *const q = heap_alloc(a.h, tib / 2, 16);
  char *const r = heap_alloc(a.h, 100, 16);
  ck_assert(r > q + tib / 2);
  ck_assert_int_eq(heap_free(a.h, q), 0);
  ck_assert_int_eq(heap_free(a.h, q), -1);
  struct heap_extent x[2];
  ck_assert_uint_eq(heap_extents(a.h, 0, x, 2), 1);
  ck_assert_uint_le(x[0].len, 16 * KIB);
  ck_assert_ptr_eq(heap_alloc(a.h, 3000, 16), q);
  p = heap_alloc(a.h, 5000, GIB);
  ck_assert_uint_eq((uintptr_t)p % GIB, 0);
  ck_assert(p < r);
  arena_end(&a);
}
END_TEST

/* Many pieces, most of them with a free range behind: the pool must do. */
START_TEST(many_free_ranges) {
  struct arena a = arena_make(256 * MIB);
  static char *p[256 * MIB / 528];
  size_t count = 0;
  while ((p[count] = heap_alloc(a.h, 528, 16)) != NULL) {
    count++;
  }
  ck_assert_uint_gt(count, 256 * MIB / 600);
  for (size_t i = 0; i < count; i += 2) {
    must(heap_free(a.h, p[i]) == 0, "freed");
  }
  ck_assert_int_eq(heap_check(a.h), 0);
  /* every second range, then all */
  for (size_t i = 1; i < count; i += 4) {
    must(heap_free(a.h, p[i]) == 0, "freed");
  }
  ck_assert_int_eq(heap_check(a.h), 0);
  for (size_t i = 3; i < count; i += 4) {
    must(heap_free(a.h, p[i]) == 0, "freed");
  }
  ck_assert_ptr_eq(heap_top(a.h), a.base);
  ck_assert_ptr_nonnull(heap_alloc(a.h, 256 * MIB - 16, 16));
  arena_end(&a);
}
END_TEST

/* ---- the tree by itself, against an array ---- */

enum { SLOTS = 3000 };

static void tree_compare(const struct heap_tree *t, const size_t *size,
                         size_t min) {
  struct heap_cursor cur;
  bool more = heap_tree_first(t, min, &cur);
  for (size_t i = 0; i < SLOTS; i++) {
    if (size[i] == 0 || size[i] < min) {
      continue;
    }
    must(more, "a range is left");
    const struct heap_range r = heap_tree_get(t, &cur);
    must((uintptr_t)r.at == (i + 1) * 1024 && r.size == size[i], "same range");
    more = heap_tree_next(t, min, &cur);
  }
  must(!more, "no range is left");
}

/* The pool that is promised to be enough is; small trees need whole nodes. */
static void tree_weigh(const struct heap_tree *t, const size_t *size) {
  size_t count = 0;
  for (size_t i = 0; i < SLOTS; i++) {
    count += size[i] > 0;
  }
  ck_assert_uint_le((size_t)(t->used - t->nunused) * 512,
                    count * HEAP_TREE_RANGE_COST + (size_t)t->depth * 1024);
}

static void tree_toggle(struct heap_tree *t, size_t *size, size_t i) {
  char *const at = (char *)((i + 1) * 1024);
  struct heap_cursor cur;
  const bool found = heap_tree_find(t, at + below(1023), &cur);
  if (size[i] == 0) {
    const size_t n = 16 + below(1000);
    must(!found || heap_tree_get(t, &cur).at < at, "the range below");
    size[i] = n;
    must(heap_tree_insert(t, &cur, (struct heap_range){at, n}) == 0, "added");
    return;
  }
  must(found && heap_tree_get(t, &cur).at == at, "found");
  if (below(4) == 0) {
    size[i] = 16 + below(1000);
    heap_tree_set(t, &cur, (struct heap_range){at, size[i]});
  } else {
    size[i] = 0;
    heap_tree_erase(t, &cur);
  }
}

START_TEST(tree_model) {
  static char pool[2 * SLOTS * HEAP_TREE_RANGE_COST]
      __attribute__((aligned(64)));
  static size_t size[SLOTS];
  struct heap_tree t;
  heap_tree_init(&t, pool, sizeof(pool));
  for (int step = 0; step < 60000; step++) {
    /* grows, shrinks, and at times only part of the addresses */
    const size_t i = step / 10000 % 2 ? below(SLOTS) : below(SLOTS / 9);
    const int shrink = step / 5000 % 3 == 2;
    if (!shrink || size[i] != 0) {
      tree_toggle(&t, size, i);
    }
    if (step % 100 == 0) {
      ck_assert_int_eq(heap_tree_check(&t), 0);
      tree_weigh(&t, size);
      tree_compare(&t, size, 0);
      tree_compare(&t, size, 900);
    }
  }
  for (size_t i = 0; i < SLOTS; i++) {
    while (size[i] != 0) {
      tree_toggle(&t, size, i);
    }
  }
  ck_assert_int_eq(heap_tree_check(&t), 0);
  ck_assert_uint_eq(t.depth, 1);
}
END_TEST

START_TEST(tree_full_pool) {
  static char pool[16 * 512] __attribute__((aligned(64)));
  struct heap_tree t;
  struct heap_cursor cur;
  size_t count = 0;
  heap_tree_init(&t, pool, sizeof(pool));
  for (;; count++) {
    const struct heap_range r = {(char *)((count + 1) * 1024), 16};
    heap_tree_find(&t, r.at, &cur);
    if (heap_tree_insert(&t, &cur, r) < 0) {
      break;
    }
  }
  ck_assert_uint_ge(count, sizeof(pool) / HEAP_TREE_RANGE_COST);
  ck_assert_int_eq(heap_tree_check(&t), 0);
  ck_assert(heap_tree_find(&t, (char *)5000, &cur));
  heap_tree_erase(&t, &cur);
  ck_assert_int_eq(heap_tree_check(&t), 0);
}
END_TEST

/* Only what is below the limit is used, until it is raised. */
START_TEST(limits) {
  struct arena a = arena_make(64 * MIB);
  heap_limit(a.h, 64 * KIB, 64 * MIB);
  ck_assert_ptr_null(heap_alloc(a.h, MIB, 16));
  const size_t lacks = heap_lacks(a.h);
  ck_assert_uint_ge(lacks, MIB);
  ck_assert_uint_le(lacks, MIB + 64);
  heap_limit(a.h, lacks, 64 * MIB);
  char *const p = heap_alloc(a.h, MIB, 16);
  ck_assert_ptr_nonnull(p);
  ck_assert_uint_eq(heap_lacks(a.h), 0);
  /* More than will ever be. */
  ck_assert_ptr_null(heap_alloc(a.h, 64 * MIB, 16));
  ck_assert_uint_eq(heap_lacks(a.h), 0);
  ck_assert_ptr_null(heap_alloc(a.h, MIB, 32 * MIB));
  ck_assert_uint_ge(heap_lacks(a.h), 2 * MIB);
  ck_assert_uint_le(heap_lacks(a.h), 34 * MIB);
  /* The last block stays where it is, however much it lacks. */
  ck_assert_ptr_null(heap_realloc(a.h, p, 2 * MIB));
  ck_assert_uint_gt(heap_lacks(a.h), 2 * MIB);
  ck_assert_uint_lt(heap_lacks(a.h), 2 * MIB + 64);
  heap_limit(a.h, 3 * MIB, 64 * MIB);
  ck_assert_ptr_eq(heap_realloc(a.h, p, 2 * MIB), p);
  /* One that cannot grow where it is lacks room for another. */
  ck_assert_ptr_nonnull(heap_alloc(a.h, 600 * KIB, 16));
  ck_assert_ptr_null(heap_realloc(a.h, p, 3 * MIB));
  ck_assert_uint_gt(heap_lacks(a.h), 5 * MIB);
  ck_assert_uint_eq(heap_usable_size(a.h, p), 2 * MIB);
  /* No slab, either: small blocks wait, too, and do not go elsewhere. */
  heap_limit(a.h, (size_t)(heap_top(a.h) - a.base) + 2048, 64 * MIB);
  ck_assert_ptr_null(heap_alloc(a.h, 100, 16));
  ck_assert_uint_gt(heap_lacks(a.h), 0);
  const size_t now = (size_t)(heap_top(a.h) - a.base) + 2048;
  heap_limit(a.h, now, now);
  ck_assert_ptr_nonnull(heap_alloc(a.h, 100, 16));
  ck_assert_int_eq(heap_check(a.h), 0);
  arena_end(&a);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("heap");
  TCase *const c = tcase_create("heap");
  tcase_set_timeout(c, 600);
  tcase_add_test(c, model_small);
  tcase_add_test(c, model_tiny);
  tcase_add_test(c, model_large);
  tcase_add_test(c, create_fails);
  tcase_add_test(c, limits);
  tcase_add_test(c, zero_bytes);
  tcase_add_test(c, absurd_sizes);
  tcase_add_test(c, whole_limit);
  tcase_add_test(c, exhaustion);
  tcase_add_test(c, exhaustion_takes_kept_slabs);
  tcase_add_test(c, every_alignment);
  tcase_add_test(c, aligned_among_misfits);
  tcase_add_test(c, lowest_address_first);
  tcase_add_test(c, lowest_slab_first);
  tcase_add_test(c, slabs_empty_in_any_order);
  tcase_add_test(c, bad_frees);
  tcase_add_test(c, free_of_resurrected_header);
  tcase_add_test(c, realloc_in_place);
  tcase_add_test(c, realloc_overlapping);
  tcase_add_test(c, realloc_small);
  tcase_add_test(c, realloc_small_when_full);
  tcase_add_test(c, doubling_vectors_are_dense);
  tcase_add_test(c, fresh_zeroed_memory_is_not_touched);
  tcase_add_test(c, blocks_are_found);
  tcase_add_test(c, a_header_is_no_block);
  tcase_add_test(c, extents_of_large_blocks);
  tcase_add_test(c, a_tebibyte);
  tcase_add_test(c, many_free_ranges);
  tcase_add_test(c, tree_model);
  tcase_add_test(c, tree_full_pool);
  suite_add_tcase(s, c);
  return check_run(s);
}
