#include <check.h>
#include <time.h>

#include "os/clock.h"

#include "check_main.h"

static void doze(void) {
  const struct timespec t = {0, 20000000};
  nanosleep(&t, NULL);
}

START_TEST(time_passes_while_a_thread_sleeps) {
  const uint64_t ns = clock_ns();
  const double seconds = clock_seconds();
  doze();
  ck_assert_uint_ge(clock_ns() - ns, 20000000);
  ck_assert_double_ge(clock_seconds() - seconds, 0.0199);
}
END_TEST

START_TEST(a_sleeping_thread_uses_no_cpu_time) {
  const uint64_t ns = clock_thread_ns();
  doze();
  ck_assert_uint_lt(clock_thread_ns() - ns, 15000000);
  const uint64_t before = clock_thread_ns();
  for (volatile int i = 0; i < 1000000; i++) {
  }
  ck_assert_uint_gt(clock_thread_ns(), before);
}
END_TEST

START_TEST(deadlines_carry_into_seconds) {
  const uint64_t ahead = 2999999999;
  const uint64_t from = clock_read_ns(CLOCK_REALTIME);
  const struct timespec at = clock_after(CLOCK_REALTIME, ahead);
  const uint64_t to = clock_read_ns(CLOCK_REALTIME);
  const uint64_t ns = (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
  ck_assert_int_lt(at.tv_nsec, 1000000000);
  ck_assert_uint_ge(ns, from + ahead);
  ck_assert_uint_le(ns, to + ahead);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      time_passes_while_a_thread_sleeps,
      a_sleeping_thread_uses_no_cpu_time,
      deadlines_carry_into_seconds,
      NULL,
  };
  return check_main("clock", tests);
}
