#include "vp/alarm.h"

#include "check_main.h"
#include "os/clock.h"

#include <check.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int rung;
static _Atomic uint64_t last, again;

static void ring(void) {
  last = clock_ns();
  rung++;
  const uint64_t when = atomic_exchange(&again, 0);
  if (when) {
    alarm_set(when);
  }
}

/* libcheck's limit ends a wait in vain. */
static void await(int n) {
  while (rung < n) {
    usleep(1000);
  }
}

START_TEST(test_rings_when_due) {
  alarm_create(ring);
  const uint64_t when = clock_ns() + 20000000;
  alarm_set(when);
  await(1);
  ck_assert_uint_ge(last, when);
  alarm_set(1); /* long past */
  await(2);
  alarm_destroy();
}
END_TEST

START_TEST(test_the_earliest_counts) {
  const uint64_t now = clock_ns(), hour = UINT64_C(3600000000000);
  alarm_create(ring);
  alarm_set(now + hour);
  alarm_set(now + 20000000);
  alarm_set(now + hour);
  await(1);
  ck_assert_uint_ge(last, now + 20000000);
  alarm_destroy();
  ck_assert_int_eq(rung, 1);
}
END_TEST

START_TEST(test_may_set_itself) {
  alarm_create(ring);
  again = clock_ns() + 10000000;
  alarm_set(clock_ns());
  await(2);
  alarm_destroy();
}
END_TEST

START_TEST(test_not_after_the_end) {
  alarm_create(ring);
  alarm_destroy(); /* no thread has begun */
  alarm_create(ring);
  alarm_set(clock_ns() + 200000000);
  alarm_destroy();
  usleep(400000);
  ck_assert_int_eq(rung, 0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("alarm");
  TCase *const t = tcase_create("alarm");
  tcase_add_test(t, test_rings_when_due);
  tcase_add_test(t, test_the_earliest_counts);
  tcase_add_test(t, test_may_set_itself);
  tcase_add_test(t, test_not_after_the_end);
  suite_add_tcase(s, t);
  return check_run(s);
}
