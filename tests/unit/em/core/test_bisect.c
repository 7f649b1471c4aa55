/* Where something begins to work, or ends to. */
#include "em/core/bisect.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check_main.h"

static int asked; /* how often */

static bool below(const void *bound, uint64_t n) {
  asked++;
  return n < *(const uint64_t *)bound;
}

static bool not_below(const void *bound, uint64_t n) {
  asked++;
  return n >= *(const uint64_t *)bound;
}

START_TEST(the_most_that_works) {
  for (uint64_t bound = 1; bound <= 100; bound++) {
    ck_assert_uint_eq(bisect_most(below, &bound, 100), bound - 1);
  }
  const uint64_t large = UINT64_C(1) << 60, none = 0;
  asked = 0;
  ck_assert_uint_eq(bisect_most(below, &large, UINT64_MAX), large - 1);
  ck_assert_int_le(asked, 64);
  ck_assert_uint_eq(bisect_most(below, &none, 100), 0);
  ck_assert_uint_eq(bisect_most(below, &large, 0), 0);
  ck_assert_uint_eq(bisect_most(below, &large, 1), 0);
}
END_TEST

START_TEST(the_least_that_works) {
  for (uint64_t first = 1; first <= 20; first++) {
    for (uint64_t bound = 0; bound <= 100; bound++) {
      ck_assert_uint_eq(bisect_least(not_below, &bound, first, 200),
                        bound > first ? bound : first);
    }
  }
}
END_TEST

START_TEST(nothing_works) {
  const uint64_t bound = 1000;
  asked = 0;
  ck_assert_uint_eq(bisect_least(not_below, &bound, 1, 400), 0);
  ck_assert_int_le(asked, 11);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("bisect");
  TCase *const t = tcase_create("bisect");
  tcase_add_test(t, the_most_that_works);
  tcase_add_test(t, the_least_that_works);
  tcase_add_test(t, nothing_works);
  suite_add_tcase(s, t);
  return check_run(s);
}
