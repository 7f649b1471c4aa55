/* Lines through what amounts took. */
#include "context/residency/rate.h"

#include "check_main.h"

static const double all = 1e12; /* nothing is forgotten */

#define ck_near(a, b) ck_assert_double_eq_tol(a, b, 1e-6 * ((b) + 1))

/* n measurements of amounts 1000, 2000, ... that take `once` and `each`. */
static void learn(struct rate *r, int n, double once, double each) {
  for (int i = 1; i <= n; i++) {
    rate_learn(r, 1000.0 * i, once + each * 1000 * i, all);
  }
}

START_TEST(nothing_is_known_at_first) {
  const struct rate r = {0};
  ck_near(rate_at(&r, 5), 0);
}
END_TEST

START_TEST(each_time_takes_something_too) {
  struct rate r = {0};
  learn(&r, 20, 700, 3);
  ck_near(rate_at(&r, 0), 700);
  ck_near(rate_at(&r, 100000), 300700);
}
END_TEST

/* Too few for a line: the mean. */
START_TEST(few_tell_a_mean) {
  struct rate r = {0};
  learn(&r, 3, 6000, 3);
  ck_near(rate_at(&r, 0), 0);
  ck_near(rate_at(&r, 2000), 12000);
}
END_TEST

START_TEST(like_amounts_tell_a_mean) {
  struct rate r = {0};
  for (int i = 0; i < 50; i++) {
    rate_learn(&r, 1000 + i % 2, i % 2 ? 500 : 1500, all);
  }
  ck_assert_double_eq_tol(rate_at(&r, 2000), 2000, 5);
}
END_TEST

/* Neither a time nor a byte takes less than nothing. */
START_TEST(no_part_is_negative) {
  struct rate steep = {0}, falling = {0};
  for (int i = 1; i <= 20; i++) {
    rate_learn(&steep, 1000.0 * i, 1000.0 * i * i, all);
    rate_learn(&falling, 1000.0 * i, 50000 - 1000.0 * i, all);
  }
  ck_near(rate_at(&steep, 0), 0);
  ck_assert_double_gt(rate_at(&steep, 1000), 0);
  ck_near(rate_at(&falling, 0), rate_at(&falling, 1e6));
}
END_TEST

START_TEST(no_bytes_at_all) {
  struct rate r = {0};
  for (int i = 0; i < 20; i++) {
    rate_learn(&r, 0, 40, all);
  }
  ck_near(rate_at(&r, 0), 40);
}
END_TEST

START_TEST(newer_ones_count_more) {
  struct rate r = {0};
  for (int i = 0; i < 100; i++) {
    rate_learn(&r, 1000, 1000, 10000);
  }
  for (int i = 0; i < 100; i++) {
    rate_learn(&r, 1000, 3000, 10000);
  }
  ck_assert_double_eq_tol(rate_at(&r, 1000), 3000, 10);
}
END_TEST

START_TEST(bad_luck_is_cut) {
  struct rate r = {0};
  learn(&r, 20, 0, 1);
  rate_learn(&r, 10000, 1e9, all);
  ck_assert_double_lt(rate_at(&r, 10000), 20000);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {nothing_is_known_at_first,
                                each_time_takes_something_too,
                                few_tell_a_mean,
                                like_amounts_tell_a_mean,
                                no_part_is_negative,
                                no_bytes_at_all,
                                newer_ones_count_more,
                                bad_luck_is_cut,
                                NULL};
  return check_main("rate", tests);
}
