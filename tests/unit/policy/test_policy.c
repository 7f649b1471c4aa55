#include "policy/policy.h"

#include <string.h>

#include "check_main.h"

START_TEST(policies_are_in_the_order_of_their_names) {
  ck_assert_str_eq(POLICY_WORDS, "alternate|id");
  ck_assert_int_eq(POLICY_COUNT, 2);
  ck_assert_ptr_eq(policy_table[0], &policy_alternate);
  ck_assert_ptr_eq(policy_table[1], &policy_id);
}
END_TEST

/* Whatever the policy: no two VPs of one superstep have the same turn, and none
   comes before those that have waited less often. */
START_TEST(turns_are_distinct_and_grow_with_waits) {
  enum { N = 5, WAITS = 4 };
  const struct policy *const p = policy_table[_i];
  uint64_t last = 0;
  for (uint64_t waits = 0; waits < WAITS; waits++) {
    uint64_t most = 0;
    for (int i = 0; i < N; i++) {
      const uint64_t turn = p->turn(waits, i, N);
      ck_assert(waits == 0 || turn > last);
      most = turn > most ? turn : most;
      for (int j = 0; j < i; j++) {
        ck_assert_uint_ne(turn, p->turn(waits, j, N));
      }
    }
    last = most;
  }
}
END_TEST

/* Whom to evict must not depend on the order of asking. */
START_TEST(evicting_prefers_one_of_two) {
  const struct policy_use use[] = {
      {.turn = 1, .last_used = 4},
      {.turn = 2, .last_used = 3},
      {.turn = 2, .last_used = 2, .far = 1},
      {.turn = 2, .last_used = 1, .far = 1, .missing = 2},
      {.wanted = true, .turn = 3, .last_used = 0},
      {.wanted = true, .turn = 4, .last_used = 5}};
  enum { N = sizeof(use) / sizeof(use[0]) };
  const struct policy *const p = policy_table[_i];
  for (int i = 0; i < N; i++) {
    ck_assert(!p->evict_rather(&use[i], &use[i]));
    for (int j = 0; j < i; j++) {
      ck_assert_int_ne(p->evict_rather(&use[i], &use[j]),
                       p->evict_rather(&use[j], &use[i]));
    }
  }
}
END_TEST

/* So it is with whom to bring in. */
START_TEST(loading_prefers_one_of_two) {
  const struct policy_use use[] = {{.turn = 1},
                                   {.turn = 2},
                                   {.turn = 3, .frees = 1},
                                   {.turn = 4, .frees = 2},
                                   {.turn = 5, .overdue = true},
                                   {.turn = 6, .frees = 3, .overdue = true}};
  enum { N = sizeof(use) / sizeof(use[0]) };
  const struct policy *const p = policy_table[_i];
  for (int i = 0; i < N; i++) {
    ck_assert(!p->load_rather(&use[i], &use[i]));
    for (int j = 0; j < i; j++) {
      ck_assert_int_ne(p->load_rather(&use[i], &use[j]),
                       p->load_rather(&use[j], &use[i]));
    }
  }
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("policy");
  TCase *const all = tcase_create("all");
  tcase_add_test(all, policies_are_in_the_order_of_their_names);
  tcase_add_loop_test(all, turns_are_distinct_and_grow_with_waits, 0,
                      POLICY_COUNT);
  tcase_add_loop_test(all, evicting_prefers_one_of_two, 0, POLICY_COUNT);
  tcase_add_loop_test(all, loading_prefers_one_of_two, 0, POLICY_COUNT);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
