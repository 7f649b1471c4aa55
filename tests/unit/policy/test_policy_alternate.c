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
                          first = {.wanted = true, .turn = 5, .last_used = 1},
                          second = {.wanted = true, .turn = 6, .last_used = 2};
  ck_assert(p->evict_rather(&waits, &first));
  ck_assert(!p->evict_rather(&first, &waits));
  ck_assert(p->evict_rather(&second, &first));
  ck_assert(!p->evict_rather(&first, &second));
}
END_TEST

START_TEST(who_will_wait_for_longest_goes_first) {
  const struct policy_use near = {.last_used = 1, .far = 1, .missing = 9},
                          many = {.last_used = 3, .far = 2, .missing = 2},
                          few = {.last_used = 2, .far = 2, .missing = 1},
                          ready = {.wanted = true, .far = 3};
  ck_assert(p->evict_rather(&few, &near));
  ck_assert(p->evict_rather(&many, &few));
  ck_assert(p->evict_rather(&near, &ready));
  ck_assert(!p->evict_rather(&near, &few));
}
END_TEST

START_TEST(who_lets_others_go_on_comes_first_but_for_the_overdue) {
  const struct policy_use first = {.turn = 1}, frees = {.turn = 2, .frees = 1},
                          more = {.turn = 3, .frees = 2},
                          late = {.turn = 4, .overdue = true},
                          later = {.turn = 5, .frees = 3, .overdue = true};
  ck_assert(p->load_rather(&frees, &first));
  ck_assert(p->load_rather(&more, &frees));
  ck_assert(p->load_rather(&late, &more));
  ck_assert(p->load_rather(&late, &later));
  ck_assert(!p->load_rather(&first, &frees));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      numbers_go_up_then_down,
      of_those_that_wait_the_last_used_stays,
      those_that_are_ready_stay_the_first_in_turn_longest,
      who_will_wait_for_longest_goes_first,
      who_lets_others_go_on_comes_first_but_for_the_overdue,
      NULL};
  return check_main("policy_alternate", tests);
}
