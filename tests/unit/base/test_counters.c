#define _GNU_SOURCE
#include "base/counters.h"
#include "check_main.h"
#include "os/clock.h"

#include <check.h>
#include <pthread.h>
#include <time.h>

START_TEST(counters_start_at_zero_and_add) {
#define IS_ZERO(name, unit, help) ck_assert_uint_eq(counter_get(name), 0);
  COUNTERS(IS_ZERO)
#undef IS_ZERO
  counter_add(reads, 2);
  counter_add(reads, 3);
  counter_add(bytes_read, UINT64_C(5) << 32);
  ck_assert_uint_eq(counter_get(reads), 5);
  ck_assert_uint_eq(counter_get(bytes_read), UINT64_C(5) << 32);
  ck_assert_uint_eq(counter_get(writes), 0);
}
END_TEST

enum { THREADS = 8, TIMES = 20000 };

static void *add(void *unused) {
  (void)unused;
  for (int i = 0; i < TIMES; i++) {
    counter_add(net_sent, 3);
  }
  return NULL;
}

START_TEST(threads_lose_nothing) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_create(&threads[i], NULL, add, NULL), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
  ck_assert_uint_eq(counter_get(net_sent), 3 * THREADS * TIMES);
}
END_TEST

START_TEST(clock_counts_nanoseconds) {
  const struct timespec wait = {.tv_nsec = 20000000};
  const uint64_t begin = clock_ns();
  nanosleep(&wait, NULL);
  const uint64_t passed = clock_ns() - begin;
  ck_assert_uint_ge(passed, 20000000);
  ck_assert_uint_lt(passed, UINT64_C(5000000000));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("counters");
  TCase *const t = tcase_create("counters");
  tcase_add_test(t, counters_start_at_zero_and_add);
  tcase_add_test(t, threads_lose_nothing);
  tcase_add_test(t, clock_counts_nanoseconds);
  suite_add_tcase(s, t);
  return check_run(s);
}
