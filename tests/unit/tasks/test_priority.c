/* Priorities from real numbers: what order they keep. */
#include <pems/sched.h>

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

#define HALF (UINT64_C(1) << 63) /* the priority of 0 in fixed point */

static uint64_t state = 1;

static uint64_t some_bits(void) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Any number, of any size; sometimes one that is near `near`. */
static double some_real(double near) {
  uint64_t bits = some_bits();
  double x;
  if (bits % 4 == 0) {
    memcpy(&bits, &near, sizeof(bits));
    bits += some_bits() % 5 - 2;
  }
  memcpy(&x, &bits, sizeof(x));
  return isnan(x) ? near : x;
}

/* Their priorities, by the sign of the difference. */
static int order(uint64_t a, uint64_t b) {
  return (a > b) - (a < b);
}

/* --- the bits of a number --- */

START_TEST(real_keeps_the_order) {
  double x = 1;
  for (int i = 0; i < 1000000; i++) {
    const double y = some_real(x);
    const int want = (x > y) - (x < y);
    const int got = order(pems_sched_real(x), pems_sched_real(y));
    if (got != want && (x != 0 || y != 0)) {
      ck_abort_msg("%a, %a: %d instead of %d", x, y, got, want);
    }
    x = y;
  }
}
END_TEST

START_TEST(real_keeps_the_order_of_special_numbers) {
  static const double x[] = {-INFINITY,
                             -DBL_MAX,
                             -2,
                             -1,
                             -DBL_MIN,
                             -0x1p-1074,
                             -0.0,
                             0.0,
                             0x1p-1074,
                             DBL_MIN / 2,
                             DBL_MIN,
                             1,
                             1 + DBL_EPSILON,
                             2,
                             DBL_MAX,
                             INFINITY,
                             NAN};
  for (size_t i = 0; i + 1 < sizeof(x) / sizeof(*x); i++) {
    ck_assert_uint_lt(pems_sched_real(x[i]), pems_sched_real(x[i + 1]));
  }
  ck_assert_uint_eq(pems_sched_real(NAN), UINT64_MAX);
  ck_assert_uint_eq(pems_sched_real(-NAN), UINT64_MAX);
  ck_assert_uint_eq(pems_sched_real(0), HALF);
}
END_TEST

/* Neighbours are neighbours, so that merging by 2^k merges 2^k numbers. */
START_TEST(real_leaves_no_gaps) {
  double x = -1;
  for (int i = 0; i < 100000; i++) {
    if (isfinite(x) && x != 0) {
      ck_assert_uint_eq(pems_sched_real(nextafter(x, INFINITY)),
                        pems_sched_real(x) + 1);
    }
    x = some_real(x);
    i += 99;
  }
}
END_TEST

/* --- fixed point --- */

START_TEST(fixed_rounds_down) {
  static const struct {
    double x, unit;
    int64_t want;
  } cases[] = {
      {0, 1, 0},
      {-0.0, 1, 0},
      {.99, 1, 0},
      {1, 1, 1},
      {-1, 1, -1},
      {-.01, 1, -1},
      {-1.01, 1, -2},
      {7, 2, 3},
      {-7, 2, -4},
      {-8, 2, -4},
      {1e-3, 1e-4, 10},
      {1, 1e300, 0},
      {-1, 1e300, -1},
      {5e300, 1e300, 5},
      {1, INFINITY, 0},
      {0x1p-1074, 1, 0},
      {-0x1p-1074, 1, -1},
      {0x1p-1073, 0x1p-1074, 2},
      {0x1p53 + 2, 1, (INT64_C(1) << 53) + 2},
      {-0x1p53 - 2, 1, -(INT64_C(1) << 53) - 2},
      {0x1p62, 1, INT64_C(1) << 62},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    ck_assert_msg(pems_sched_fixed(cases[i].x, cases[i].unit) ==
                      HALF + (uint64_t)cases[i].want,
                  "%g in %g", cases[i].x, cases[i].unit);
  }
}
END_TEST

START_TEST(fixed_is_brought_to_the_ends) {
  const double most = nextafter(0x1p63, 0);
  ck_assert_uint_eq(pems_sched_fixed(most, 1), UINT64_MAX - 1023);
  ck_assert_uint_eq(pems_sched_fixed(0x1p63, 1), UINT64_MAX);
  ck_assert_uint_eq(pems_sched_fixed(1e300, 1), UINT64_MAX);
  ck_assert_uint_eq(pems_sched_fixed(1e300, 1e-300), UINT64_MAX);
  ck_assert_uint_eq(pems_sched_fixed(INFINITY, 1), UINT64_MAX);
  ck_assert_uint_eq(pems_sched_fixed(NAN, 1), UINT64_MAX);
  ck_assert_uint_eq(pems_sched_fixed(-NAN, 1), UINT64_MAX);
  ck_assert_uint_eq(pems_sched_fixed(-most, 1), 1024);
  ck_assert_uint_eq(pems_sched_fixed(-0x1p63, 1), 0);
  ck_assert_uint_eq(pems_sched_fixed(-1e300, 1), 0);
  ck_assert_uint_eq(pems_sched_fixed(-INFINITY, 1), 0);
  ck_assert_uint_eq(pems_sched_fixed(-1, 0x1p-1074), 0);
}
END_TEST

START_TEST(fixed_keeps_the_order) {
  static const double units[] = {1, .001, 3, 1e-300, 1e300, 0x1p-40};
  double x = 1;
  for (int i = 0; i < 600000; i++) {
    const double y = some_real(x), unit = units[i % 6];
    const int got = order(pems_sched_fixed(x, unit), pems_sched_fixed(y, unit));
    if (got != 0 && got != (x > y) - (x < y)) {
      ck_abort_msg("%a, %a in %g: %d", x, y, unit, got);
    }
    x = y;
  }
}
END_TEST

/* Differences of a unit and more do show. */
START_TEST(fixed_tells_units_apart) {
  for (int i = 0; i < 100000; i++) {
    const double x = (double)(int64_t)some_bits() * 0x1p-12; /* below 2^51 */
    ck_assert_uint_eq(pems_sched_fixed(x, 1) - HALF,
                      (uint64_t)(int64_t)floor(x));
    i += 49;
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("task_priority");
  TCase *const t = tcase_create("all");
  tcase_add_test(t, real_keeps_the_order);
  tcase_add_test(t, real_keeps_the_order_of_special_numbers);
  tcase_add_test(t, real_leaves_no_gaps);
  tcase_add_test(t, fixed_rounds_down);
  tcase_add_test(t, fixed_is_brought_to_the_ends);
  tcase_add_test(t, fixed_keeps_the_order);
  tcase_add_test(t, fixed_tells_units_apart);
  suite_add_tcase(s, t);
  return check_run(s);
}
