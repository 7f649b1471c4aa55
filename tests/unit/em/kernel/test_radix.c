/* Radix sorts against qsort. */
#include "em/kernel/radix.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

static uint64_t state;

static uint64_t rnd(void) {
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return state ^ (state >> 29);
}

static size_t width; /* of the words compared */

/* By the highest byte first. */
static int by_number(const void *a, const void *b) {
  const unsigned char *const x = a, *const y = b;
  for (size_t i = width; i-- > 0;) {
    if (x[i] != y[i]) {
      return x[i] < y[i] ? -1 : 1;
    }
  }
  return 0;
}

static void sort(void *words, size_t n) {
  switch (width) {
  case 1:
    radix_u8(words, n);
    break;
  case 2:
    radix_u16(words, n);
    break;
  case 4:
    radix_u32(words, n);
    break;
  case 8:
    radix_u64(words, n);
    break;
  default:
    radix_u128(words, n);
  }
}

enum { SHAPES = 11, TEXT = 9, HEAPS = 10 };

/* Some spaces, and then letters, some more often than others. */
static void fill_text(unsigned char *word) {
  const size_t spaces = rnd() % 8 * (rnd() % 2);
  for (size_t i = 0; i < width; i++) {
    const uint64_t letter = 97 + (rnd() % 26) * (rnd() % 26) / 26;
    word[width - 1 - i] = i < spaces ? 32 : (unsigned char)letter;
  }
}

/* Random, few values, differing in one byte only, ascending, descending; most
   of them close together; each power of two as often as any other; up and down;
   random after a beginning in common; text; two in three the same, and the
   others close to these or far away. */
static void fill(unsigned char *a, size_t n, int shape) {
  const size_t byte = rnd() % width;
  for (size_t i = 0; i < n; i++) {
    uint64_t two[2] = {rnd(), rnd()};
    const uint64_t some[2] = {two[0] % 3, two[1] % 2 << 63};
    const uint64_t order = shape == 3 ? i : n - i;
    const uint64_t close = two[0] % 100 ? two[1] % 5000 : two[1];
    const uint64_t power = two[1] >> (two[0] % 64);
    const uint64_t heap = two[0] % 3   ? 70000
                          : two[0] % 2 ? 60000 + two[1] % 20000
                                       : two[1];
    memset(a + i * width, 0, width);
    if (shape == 0) {
      memcpy(a + i * width, two, width);
    } else if (shape == 1) {
      memcpy(a + i * width, some, width);
    } else if (shape == 2) {
      a[i * width + byte] = (unsigned char)two[0];
    } else if (shape == 8) {
      memset(a + i * width, 0xab, width);
      memcpy(a + i * width, two, width / 2);
    } else if (shape == TEXT) {
      fill_text(a + i * width);
    } else {
      const uint64_t x = shape == 5       ? close
                         : shape == 6     ? power
                         : shape == HEAPS ? heap
                         : shape == 7     ? (i < n / 2 ? i : n - i)
                                          : order;
      memcpy(a + i * width + (shape == 6 && width == 16 ? 8 : 0), &x,
             width < 8 ? width : 8);
    }
  }
}

static void check(size_t n, int shape, int shift) {
  unsigned char *const a = malloc(n * width + 16);
  unsigned char *const b = malloc(n * width + 16);
  memset(a, 0x55, n * width + 16);
  fill(a + shift, n, shape);
  memcpy(b, a, n * width + 16);
  sort(a + shift, n);
  qsort(b + shift, n, width, by_number);
  ck_assert_int_eq(memcmp(a, b, n * width + 16), 0);
  free(a);
  free(b);
}

START_TEST(any_number_of_words) {
  width = (size_t)1 << _i;
  for (size_t n = 0; n < 200; n++) {
    check(n, (int)(n % SHAPES), 0);
  }
  for (int shape = 0; shape < SHAPES; shape++) {
    check(3001, shape, 0);
    check(30011, shape, 0);
    check(200003, shape, 0);
  }
}
END_TEST

/* As they come, but for the halves below. */
START_TEST(higher_halves_only) {
  enum { N = 30011 };
  static uint64_t a[2 * N], b[2 * N];
  width = 16;
  fill((unsigned char *)a, N, _i);
  memcpy(b, a, sizeof(b));
  radix_u128_high(a, N);
  for (size_t i = 1; i < N; i++) {
    ck_assert_uint_le(a[2 * i - 1], a[2 * i + 1]);
  }
  qsort(a, N, width, by_number);
  qsort(b, N, width, by_number);
  ck_assert_int_eq(memcmp(a, b, sizeof(b)), 0);
}
END_TEST

START_TEST(words_that_are_not_aligned) {
  width = (size_t)1 << _i;
  for (int shift = 0; shift < 16; shift++) {
    check(999, shift % 5, shift);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("radix");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, any_number_of_words, 0, 5);
  tcase_add_loop_test(t, higher_halves_only, 0, SHAPES);
  tcase_add_loop_test(t, words_that_are_not_aligned, 0, 5);
  suite_add_tcase(s, t);
  return check_run(s);
}
