/* When pmod merges and unmerges. */
#include <check.h>
#include <stdlib.h>

#include "tasks/merge.h"

#include "check_main.h"

static const struct task_merge_rule rule = {1.0 / 64, 256, 64, 16};

START_TEST(few_synchronizing_dequeues_merge_nothing) {
  struct task_observed o = {1000, 6400, 100, 0, 1 << 20};
  ck_assert_int_eq(task_merge_check(&rule, &o, 3), 3); /* exactly 1 / chunk */
  o.synchronizing++;
  ck_assert_int_gt(task_merge_check(&rule, &o, 3), 3);
}
END_TEST

START_TEST(merging_aims_at_the_density) {
  /* 64 tasks over 2^12 priorities: 1/64 of a task each, wanted are 64. */
  struct task_observed o = {64, 64, 64, 0, 4096};
  ck_assert_int_eq(task_merge_check(&rule, &o, 0), 12);
  /* Of priorities shifted by 6 there are 64: one task each. */
  ck_assert_int_eq(task_merge_check(&rule, &o, 6), 12);
  /* 33 per bag would need a factor of 1.94: not a whole power of two. */
  o = (struct task_observed){33 * 64, 64, 64, 0, 64};
  ck_assert_int_eq(task_merge_check(&rule, &o, 0), 0);
  o.enqueues = 32 * 64;
  ck_assert_int_eq(task_merge_check(&rule, &o, 0), 1);
  o.enqueues = 64 * 64;
  ck_assert_int_eq(task_merge_check(&rule, &o, 0), 0);
}
END_TEST

START_TEST(one_priority_is_one_bag) {
  struct task_observed o = {16, 64, 64, 5, 5};
  ck_assert_int_eq(task_merge_check(&rule, &o, 0), 2);
  ck_assert_int_eq(task_unmerge_check(&rule, &o, 9, 257), 5);
}
END_TEST

START_TEST(nothing_seen_changes_nothing) {
  const struct task_observed no_push = {0, 64, 64, UINT64_MAX, 0};
  const struct task_observed no_pop = {64, 0, 0, 0, 1 << 20};
  ck_assert_int_eq(task_merge_check(&rule, &no_push, 4), 4);
  ck_assert_int_eq(task_unmerge_check(&rule, &no_push, 4, 1000), 4);
  ck_assert_int_eq(task_merge_check(&rule, &no_pop, 4), 4);
}
END_TEST

START_TEST(all_64_bits) {
  const struct task_observed o = {1, 64, 64, 0, UINT64_MAX};
  ck_assert_int_eq(task_merge_check(&rule, &o, 0), 63);
  ck_assert_int_eq(task_merge_check(&rule, &o, 63), 63);
  ck_assert_int_eq(task_unmerge_check(&rule, &o, 63, 1000), 59);
}
END_TEST

START_TEST(unmerging_aims_at_a_number_of_bags) {
  /* From 0 to 2^12 - 1 with lmf 11: one bag, wanted are 16. */
  const struct task_observed o = {1000, 1000, 1, 0, 4095};
  ck_assert_int_eq(task_unmerge_check(&rule, &o, 11, 257), 7);
  ck_assert_int_eq(task_unmerge_check(&rule, &o, 11, 256), 11);
  /* 15 differences with lmf 8: 16/15 is less than a factor of two. */
  ck_assert_int_eq(task_unmerge_check(&rule, &o, 8, 257), 8);
  ck_assert_int_eq(task_unmerge_check(&rule, &o, 9, 257), 8);
  ck_assert_int_eq(task_unmerge_check(&rule, &o, 2, 257), 2);
}
END_TEST

START_TEST(unmerging_ends_at_0) {
  const struct task_observed o = {1000, 1000, 1, 7, 7};
  ck_assert_int_eq(task_unmerge_check(&rule, &o, 3, 1000), 0);
  ck_assert_int_eq(task_unmerge_check(&rule, &o, 0, 1000), 0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("merge");
  TCase *const t = tcase_create("merge");
  tcase_add_test(t, few_synchronizing_dequeues_merge_nothing);
  tcase_add_test(t, merging_aims_at_the_density);
  tcase_add_test(t, one_priority_is_one_bag);
  tcase_add_test(t, nothing_seen_changes_nothing);
  tcase_add_test(t, all_64_bits);
  tcase_add_test(t, unmerging_aims_at_a_number_of_bags);
  tcase_add_test(t, unmerging_ends_at_0);
  suite_add_tcase(s, t);
  return check_run(s);
}
