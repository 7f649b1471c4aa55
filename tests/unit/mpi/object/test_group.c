/* Groups of ranks. */
#include "mpi/object/group.h"

#include <check.h>

#include "../check_shortage.h"
#include "check_main.h"
#include "os/native.h"

static void expect(struct group *g, int n, const int *world) {
  ck_assert_ptr_nonnull(g);
  ck_assert_int_eq(g->n, n);
  for (int i = 0; i < n; i++) {
    ck_assert_int_eq(g->world[i], world[i]);
  }
  group_release(g);
}

START_TEST(a_row_is_ranks_in_order) {
  expect(group_row(0, 4), 4, (const int[]){0, 1, 2, 3});
  expect(group_row(7, 3), 3, (const int[]){7, 8, 9});
  expect(group_row(7, 1), 1, (const int[]){7});
}
END_TEST

/* MPI_GROUP_EMPTY is a constant of the program, however often it is freed. */
START_TEST(empty_groups_are_one) {
  struct group *const empty = group_row(3, 0);
  ck_assert_int_eq(empty->n, 0);
  ck_assert_ptr_eq(group_new(NULL, 0), empty);
  ck_assert_ptr_eq(group_incl(empty, NULL, 0), empty);
  for (int i = 0; i < 10; i++) {
    group_release(empty);
  }
  ck_assert_ptr_eq(group_row(0, 0), empty);
}
END_TEST

START_TEST(without_ranks_a_group_is_a_row) {
  expect(group_new(NULL, 3), 3, (const int[]){0, 1, 2});
  expect(group_new((const int[]){2, 0}, 2), 2, (const int[]){2, 0});
}
END_TEST

START_TEST(members_are_chosen_in_any_order) {
  struct group *const row = group_row(10, 4);
  expect(group_incl(row, (const int[]){3, 0}, 2), 2, (const int[]){13, 10});
  ck_assert_int_eq(group_rank(row, 12), 2);
  ck_assert_int_eq(group_rank(row, 14), MPI_UNDEFINED);
  group_release(row);
}
END_TEST

START_TEST(places_are_by_rank_of_the_world) {
  struct group *const g = group_new((const int[]){2, 0}, 2);
  int *const place = group_places(g);
  ck_assert_int_eq(place[0], 1);
  ck_assert_int_eq(place[1], -1);
  ck_assert_int_eq(place[2], 0);
  ck_assert_int_eq(place[3], -1);
  native_free(place);
  group_release(g);
}
END_TEST

START_TEST(a_held_group_stays) {
  struct group *const g = group_row(0, 3);
  const long live = atomic_load(&check_memory.live);
  ck_assert_ptr_eq(group_hold(g), g);
  group_release(g);
  ck_assert_int_eq(atomic_load(&check_memory.live), live);
  ck_assert_int_eq(g->world[2], 2);
  group_release(g);
  ck_assert_int_lt(atomic_load(&check_memory.live), live);
}
END_TEST

static int make_row(void *arg) {
  struct group *const g = group_row(0, 100);
  (void)arg;
  group_release(g);
  return g ? 0 : ENOMEM;
}

START_TEST(a_row_is_made_or_not) {
  memory_every(make_row, NULL, ENOMEM, MEMORY_NEEDED);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("group");
  TCase *const t = tcase_create("all");
  tcase_add_checked_fixture(t, shortage_begin, shortage_end);
  tcase_add_test(t, a_row_is_ranks_in_order);
  tcase_add_test(t, empty_groups_are_one);
  tcase_add_test(t, without_ranks_a_group_is_a_row);
  tcase_add_test(t, members_are_chosen_in_any_order);
  tcase_add_test(t, places_are_by_rank_of_the_world);
  tcase_add_test(t, a_held_group_stays);
  tcase_add_test(t, a_row_is_made_or_not);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
