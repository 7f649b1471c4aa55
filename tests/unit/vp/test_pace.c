/* Growing pauses between tries that cost something. */
#include "vp/pace.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"

enum { MS = 1000000, SECOND = 1000 * MS };

/* A try at `now` that takes `cost`; the pause after it. */
static uint64_t try_once(struct pace *p, uint64_t now, uint64_t cost) {
  ck_assert(pace_allows(p, now));
  pace_begin(p, now);
  ck_assert(!pace_allows(p, now + 100ull * SECOND));
  pace_paid(p, now + cost);
  ck_assert(!pace_allows(p, p->next - 1));
  ck_assert(pace_allows(p, p->next));
  return p->next - now - cost;
}

START_TEST(pauses_double_up_to_a_bound) {
  struct pace p = {0};
  uint64_t now = 5;
  for (int i = 0, factor = 1; i < 10; i++) {
    ck_assert_uint_eq(try_once(&p, now, MS), (uint64_t)factor * MS);
    factor = factor < PACE_MOST ? 2 * factor : PACE_MOST;
    pace_result(&p, true, 1);
    now = p.next;
  }
  pace_result(&p, false, 1);
  ck_assert_uint_eq(try_once(&p, now, MS), MS);
}
END_TEST

START_TEST(pauses_double_after_a_round) {
  enum { ROUND = 3 };
  struct pace p = {0};
  uint64_t now = 5;
  for (int i = 0; i < 3 * ROUND; i++) {
    ck_assert_uint_eq(try_once(&p, now, MS), (1u << i / ROUND) * MS);
    pace_result(&p, true, ROUND);
    now = p.next;
  }
  /* Tries that were in vain before one that was not do not count. */
  pace_result(&p, false, ROUND);
  for (int i = 0; i < ROUND - 1; i++) {
    pace_result(&p, true, ROUND);
  }
  ck_assert_uint_eq(try_once(&p, now, MS), MS);
}
END_TEST

START_TEST(no_pause_is_longer_than_a_second_or_the_try) {
  struct pace p = {0};
  for (int i = 0; i < 10; i++) {
    pace_result(&p, true, 1);
  }
  ck_assert_uint_eq(try_once(&p, 1, 500 * MS), SECOND);
  ck_assert_uint_eq(try_once(&p, p.next, 3ull * SECOND), 3ull * SECOND);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("pace");
  TCase *const tc = tcase_create("pace");
  tcase_add_test(tc, pauses_double_up_to_a_bound);
  tcase_add_test(tc, pauses_double_after_a_round);
  tcase_add_test(tc, no_pause_is_longer_than_a_second_or_the_try);
  suite_add_tcase(suite, tc);
  return check_run(suite);
}
