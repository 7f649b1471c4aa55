#include "policy/policy.h"

#include "check_main.h"

static const struct policy *const p = &policy_alternate;

START_TEST(numbers_go_up_then_down) {
  for (int i = 1; i < 8; i++) {
    ck_assert_uint_gt(p->turn(0, i, 8), p->turn(0, i - 1, 8));
    ck_assert_uint_lt(p->turn(1, i, 8), p->turn(1, i - 1, 8));
    ck_assert_uint_gt(p->turn(2, i, 8), p->turn(2, i - 1, 8));
  }
  ck_assert(!p->in_turn);
  ck_assert(p->receivers_first);
}
END_TEST

START_TEST(of_those_that_wait_the_last_used_stays) {
  const struct policy_use old = {.last_used = 3, .turn = 1},
                          young = {.last_used = 4, .turn = 2};
  ck_assert(p->evict_rather(&old, &young));
  ck_assert(!p->evict_rather(&young, &old));
}
END_TEST

START_TEST(those_that_are_ready_stay_the_first_in_turn_longest) {
  const struct policy_use waits = {.last_used = 9, .turn = 1},
                          first = {true, 5, 1}, second = {true, 6, 2};
  ck_assert(p->evict_rather(&waits, &first));
  ck_assert(!p->evict_rather(&first, &waits));
  ck_assert(p->evict_rather(&second, &first));
  ck_assert(!p->evict_rather(&first, &second));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      numbers_go_up_then_down, of_those_that_wait_the_last_used_stays,
      those_that_are_ready_stay_the_first_in_turn_longest, NULL};
  return check_main("policy_alternate", tests);
}
