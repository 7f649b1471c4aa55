#include "policy/policy.h"

#include "check_main.h"

static const struct policy *const p = &policy_id;

START_TEST(numbers_go_up_in_each_superstep) {
  for (int i = 1; i < 8; i++) {
    ck_assert_uint_gt(p->turn(0, i, 8), p->turn(0, i - 1, 8));
    ck_assert_uint_gt(p->turn(1, i, 8), p->turn(1, i - 1, 8));
  }
  ck_assert(p->in_turn);
  ck_assert(!p->receivers_first);
}
END_TEST

START_TEST(the_least_recently_used_goes_ready_or_not) {
  const struct policy_use ready = {.wanted = true, .turn = 1, .last_used = 3},
                          waits = {.turn = 2, .last_used = 4, .far = 1};
  ck_assert(p->evict_rather(&ready, &waits));
  ck_assert(!p->evict_rather(&waits, &ready));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {numbers_go_up_in_each_superstep,
                                the_least_recently_used_goes_ready_or_not,
                                NULL};
  return check_main("policy_id", tests);
}
