/* Highway's sorts, in every set of instructions that this machine has, against
   qsort; with memory behind the keys that must not be touched. */
#define _GNU_SOURCE
#include "em/kernel/vqsort.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check_main.h"

static const size_t lengths[] = {
    0,  1,   2,   3,   5,   7,   8,   15,  16,  17,   31,   32,   33,    63,
    64, 100, 127, 128, 129, 255, 256, 257, 500, 1000, 1024, 4099, 20000, 70001};
enum { LENGTHS = sizeof(lengths) / sizeof(*lengths), SHAPES = 8 };
enum { MOST = 70001 * 16, PAGE = 4096 };

static char *end; /* of what may be written */

static uint64_t state;

static uint64_t rnd(void) {
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return state ^ (state >> 29);
}

static void set_up(void) {
  const size_t all = (MOST + 2 * PAGE) / PAGE * PAGE;
  char *const p = mmap(NULL, all, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(p, MAP_FAILED);
  end = p + all - PAGE;
  ck_assert_int_eq(mprotect(end, PAGE, PROT_NONE), 0);
}

/* Random; few values; all equal; the least and the most; rising; falling; the
   most only, and nearly so. */
static void fill(uint64_t *a, size_t words, int shape) {
  for (size_t i = 0; i < words; i++) {
    const uint64_t x = rnd();
    const uint64_t by_shape[SHAPES] = {
        x,     x % 3,     7,          x % 2 ? UINT64_MAX : 0,
        i * 3, words - i, UINT64_MAX, x % 9 ? UINT64_MAX : UINT64_MAX - 1};
    a[i] = by_shape[shape];
  }
}

static size_t width; /* bytes of a key */

static int by_number(const void *a, const void *b) {
  const unsigned char *const x = a, *const y = b;
  for (size_t i = width; i-- > 0;) {
    if (x[i] != y[i]) {
      return x[i] < y[i] ? -1 : 1;
    }
  }
  return 0;
}

static void sort(const struct vqsort *v, void *keys, size_t n) {
  if (width == 4) {
    v->u32(keys, n);
  } else {
    v->u64(keys, n);
  }
}

static void check_sort(const struct vqsort *v, size_t n, int shape) {
  char *const a = end - n * width;
  uint64_t *const want = malloc(n * width + 8);
  fill(want, n * width / 8 + 1, shape);
  memcpy(a, want, n * width);
  qsort(want, n, width, by_number);
  sort(v, a, n);
  if (memcmp(a, want, n * width)) {
    ck_abort_msg("%s: %zu keys of %zu, shape %d", v->name, n, width, shape);
  }
  free(want);
}

START_TEST(sorts) {
  width = (size_t)4 << _i;
  for (const struct vqsort *const *v = vqsort_all(); *v; v++) {
    for (int i = 0; i < LENGTHS; i++) {
      for (int shape = 0; shape < SHAPES; shape++) {
        check_sort(*v, lengths[i], shape);
      }
    }
  }
}
END_TEST

static size_t cut(const struct vqsort *v, void *keys, size_t n,
                  const uint64_t *pivot) {
  if (width == 4) {
    return v->cut_u32(keys, n, (uint32_t)*pivot);
  }
  return width == 8 ? v->cut_u64(keys, n, *pivot) : v->cut_u128(keys, n, pivot);
}

static void check_cut(const struct vqsort *v, size_t n, int shape) {
  char *const a = end - n * width;
  uint64_t *const want = malloc(n * width + 8);
  uint64_t pivot[2];
  fill(want, n * width / 8 + 1, shape);
  memcpy(pivot, (char *)want + rnd() % n * width, width);
  memcpy(a, want, n * width);
  size_t low = 0;
  for (size_t i = 0; i < n; i++) {
    low += by_number((char *)want + i * width, pivot) <= 0;
  }
  ck_assert_uint_eq(cut(v, a, n, pivot), low);
  for (size_t i = 0; i < n; i++) {
    if ((by_number(a + i * width, pivot) <= 0) != (i < low)) {
      ck_abort_msg("%s: key %zu of %zu, shape %d", v->name, i, n, shape);
    }
  }
  qsort(a, n, width, by_number);
  qsort(want, n, width, by_number);
  ck_assert_int_eq(memcmp(a, want, n * width), 0);
  free(want);
}

START_TEST(cuts) {
  width = (size_t)4 << _i;
  for (const struct vqsort *const *v = vqsort_all(); *v; v++) {
    for (size_t n = VQSORT_CUT_LEAST; n < 70000; n = n * 5 / 4 + 1) {
      for (int shape = 0; shape < SHAPES; shape++) {
        check_cut(*v, n, shape);
      }
    }
  }
}
END_TEST

START_TEST(the_best_is_the_first) {
  ck_assert_ptr_eq(vqsort_best(), vqsort_all()[0]);
#if defined(__x86_64__)
  for (const struct vqsort *const *v = vqsort_all(); *v; v++) {
    ck_assert(__builtin_cpu_supports("avx2"));
  }
#endif
}
END_TEST

int main(void) {
  Suite *const s = suite_create("vqsort");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, NULL);
  tcase_add_loop_test(t, sorts, 0, 2);
  tcase_add_loop_test(t, cuts, 0, 3);
  tcase_add_test(t, the_best_is_the_first);
  if (!vqsort_best()) {
    puts("skipped: no Highway, or a processor without AVX2");
  }
  suite_add_tcase(s, t);
  return check_run(s);
}
