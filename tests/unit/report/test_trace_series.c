#include "report/trace_series.h"

#include <check.h>

#include "check_main.h"

static struct trace_series s;

static void set_up(void) {
  s = (struct trace_series){0};
}

START_TEST(points_apart_stay) {
  for (uint64_t i = 0; i < TRACE_POINTS; i++) {
    trace_series_add(&s, i * 1000000, i);
  }
  ck_assert_uint_eq(s.n, TRACE_POINTS);
  for (uint64_t i = 0; i < TRACE_POINTS; i++) {
    ck_assert_uint_eq(s.point[i].at, i * 1000000);
    ck_assert_uint_eq(s.point[i].value, i);
  }
}
END_TEST

START_TEST(of_points_at_one_time_the_greatest_stays) {
  trace_series_add(&s, 5, 1);
  trace_series_add(&s, 6, 9);
  trace_series_add(&s, 7, 2);
  ck_assert_uint_eq(s.n, 1);
  ck_assert_uint_eq(s.point[0].at, 5);
  ck_assert_uint_eq(s.point[0].value, 9);
}
END_TEST

START_TEST(a_peak_survives_thinning_out) {
  for (uint64_t i = 0; i < 100 * TRACE_POINTS; i++) {
    trace_series_add(&s, i * 1000000, i == 77777 ? 1000 : i % 7);
  }
  uint64_t most = 0;
  ck_assert_uint_le(s.n, TRACE_POINTS);
  ck_assert_uint_ge(s.n, TRACE_POINTS / 4);
  for (size_t i = 0; i < s.n; i++) {
    most = s.point[i].value > most ? s.point[i].value : most;
    ck_assert(i == 0 || s.point[i].at > s.point[i - 1].at);
  }
  ck_assert_uint_eq(most, 1000);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("trace_series");
  TCase *t = tcase_create("trace_series");
  tcase_add_checked_fixture(t, set_up, NULL);
  tcase_add_test(t, points_apart_stay);
  tcase_add_test(t, of_points_at_one_time_the_greatest_stays);
  tcase_add_test(t, a_peak_survives_thinning_out);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
