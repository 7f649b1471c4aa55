#include "report/trace_calls.h"

#include <check.h>
#include <stdint.h>

#include "check_main.h"

static struct trace_calls c;

static void set_up(void) {
  c = (struct trace_calls){.sites = 1};
}

static const void *address(int i) {
  return (const void *)(uintptr_t)(0x1000 + i);
}

START_TEST(a_place_is_one_site) {
  const int a = trace_calls_enter(&c, address(1), "MPI_Send");
  const int b = trace_calls_enter(&c, address(2), "MPI_Send");
  ck_assert_int_ne(a, 0);
  ck_assert_int_ne(a, b);
  ck_assert_int_eq(trace_calls_enter(&c, address(1), "MPI_Send"), a);
  ck_assert_uint_eq(c.site[a].calls, 2);
  ck_assert_uint_eq(c.site[b].calls, 1);
}
END_TEST

START_TEST(places_beyond_the_last_are_one) {
  uint64_t calls = 0;
  for (int i = 0; i < 10 * TRACE_SITES; i++) {
    ck_assert_int_lt(trace_calls_enter(&c, address(i), "MPI_Send"),
                     TRACE_SITES);
  }
  ck_assert_int_eq(c.sites, TRACE_SITES - 1);
  ck_assert_ptr_null(c.site[TRACE_SITES - 1].function);
  for (int i = 0; i < TRACE_SITES; i++) {
    calls += c.site[i].calls;
  }
  ck_assert_uint_eq(calls, 10 * TRACE_SITES);
}
END_TEST

START_TEST(the_longest_waits_stay) {
  uint64_t sum = 0, times = 0;
  for (int round = 0; round < 3; round++) {
    for (int rank = 0; rank < 100; rank++) {
      const uint64_t ns = rank == 50 ? 100000 : (uint64_t)rank;
      trace_calls_waited(&c, rank, ns);
      sum += ns;
    }
  }
  trace_calls_waited(&c, TRACE_ELSEWHERE, 7);
  sum += 7;
  uint64_t longest = 0;
  for (int i = 0; i <= TRACE_WAITED; i++) {
    sum -= c.wait[i].time;
    times += c.wait[i].times;
    longest = c.wait[i].rank == 50 ? c.wait[i].time : longest;
  }
  ck_assert_uint_eq(longest, 300000);
  ck_assert_uint_eq(sum, 0); /* nothing is lost */
  ck_assert_uint_eq(times, 301);
  ck_assert_int_eq(c.wait[TRACE_WAITED].rank, TRACE_REST);
}
END_TEST

int main(void) {
  Suite *s = suite_create("trace_calls");
  TCase *t = tcase_create("trace_calls");
  tcase_add_checked_fixture(t, set_up, NULL);
  tcase_add_test(t, a_place_is_one_site);
  tcase_add_test(t, places_beyond_the_last_are_one);
  tcase_add_test(t, the_longest_waits_stay);
  suite_add_tcase(s, t);
  return check_run(s);
}
