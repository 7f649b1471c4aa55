#include "os/ticker.h"

#include <check.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check_main.h"

static void count(void *arg) {
  atomic_int *const ticks = arg;
  (*ticks)++;
}

START_TEST(it_ticks_until_it_is_stopped) {
  struct ticker t = {0};
  atomic_int ticks = 0;
  ck_assert_int_eq(ticker_start(&t, 1, count, &ticks), 0);
  while (ticks < 5) {
    usleep(1000);
  }
  ticker_stop(&t);
  const int then = ticks;
  usleep(20000);
  ck_assert_int_eq(ticks, then);
}
END_TEST

START_TEST(stopping_does_not_wait_for_the_next_tick) {
  struct ticker t = {0};
  atomic_int ticks = 0;
  ck_assert_int_eq(ticker_start(&t, 3600 * 1000, count, &ticks), 0);
  ticker_stop(&t);
  ck_assert_int_eq(ticks, 0);
  /* and once more: it may be started again */
  ck_assert_int_eq(ticker_start(&t, 3599999, count, &ticks), 0);
  ticker_stop(&t);
  ticker_stop(&t);
  ck_assert_int_eq(ticks, 0);
}
END_TEST

START_TEST(one_that_never_ran_can_be_stopped) {
  struct ticker t = {0};
  ticker_stop(&t);
  ck_assert(!t.running);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      it_ticks_until_it_is_stopped,
      stopping_does_not_wait_for_the_next_tick,
      one_that_never_ran_can_be_stopped,
      NULL,
  };
  return check_main("ticker", tests);
}
