/* Messages that go directly from member to member. */
#include "mpi/coll/move/coll_deliver.h"

#include "check_main.h"
#include "move_check.h"

static struct delivery d;

START_TEST(a_message_goes_where_it_is_received) {
  coll_deliver(&d, &move_coll, &move_part[1], &move_part[2]);
  ck_assert(move_came(1, 2));
  ck_assert(!move_came(2, 1));
  ck_assert_int_eq(move_started, 1);
  ck_assert_int_eq(move_coll.error, MPI_SUCCESS);
}
END_TEST

START_TEST(a_member_has_one_for_itself) {
  coll_deliver_to_self(&move_coll, &move_part[3]);
  ck_assert(move_came(3, 3));
  ck_assert_int_eq(move_started, 1);
  ck_assert_int_eq(move_waited, 1); /* it is there when this returns */
}
END_TEST

START_TEST(what_does_not_fit_is_cut_off_and_told) {
  move_part[2].receive.count = BLOCK / 2;
  coll_deliver(&d, &move_coll, &move_part[0], &move_part[2]);
  ck_assert_int_eq(move_coll.error, MPI_ERR_TRUNCATE);
  ck_assert_int_eq(move_started, 1);
  ck_assert_int_eq(move_in[2][BLOCK / 2 - 1], move_letter(0, 2));
  ck_assert_int_eq(move_in[2][BLOCK / 2], 0);
  move_coll.error = MPI_SUCCESS;
  move_part[2].receive.shape = SIDE_NONE;
  coll_deliver(&d, &move_coll, &move_part[1], &move_part[2]);
  ck_assert_int_eq(move_coll.error, MPI_ERR_TRUNCATE);
  ck_assert_int_eq(move_started, 1);
}
END_TEST

static size_t places[MEMBERS] = {NOT_STAGED, NOT_STAGED, NOT_STAGED,
                                 NOT_STAGED};
static char staged[BLOCK];

static void stage(int i, int to) {
  places[to] = 0;
  move_part[i].stage = staged;
  move_part[i].stage_at = places;
}

START_TEST(what_is_packed_goes_otherwise) {
  stage(1, 2);
  ck_assert(!coll_deliver_is_direct(&move_part[1], 2));
  ck_assert(coll_deliver_is_direct(&move_part[1], 3));
  coll_deliver(&d, &move_coll, &move_part[1], &move_part[2]);
  ck_assert_int_eq(move_started, 0);
  ck_assert_int_eq(coll_deliver_events(&move_part[1], 2), 1);
  ck_assert_int_eq(coll_deliver_events(&move_part[1], 3), 2);
}
END_TEST

START_TEST(events_are_what_goes_and_comes) {
  ck_assert_int_eq(coll_deliver_events(&move_part[0], 1), 2);
  move_part[0].receive.shape = SIDE_NONE;
  ck_assert_int_eq(coll_deliver_events(&move_part[0], 1), 1);
  move_part[0].send.except = 1;
  ck_assert_int_eq(coll_deliver_events(&move_part[0], 1), 0);
  ck_assert(!coll_deliver_is_direct(&move_part[0], 1));
}
END_TEST

static void in_place(int i) {
  move_part[i].send.in_place = true;
  move_part[i].send.base = move_part[i].receive.base;
  memcpy(move_in[i], move_out[i], sizeof(move_in[i]));
}

START_TEST(in_place_two_change_at_once) {
  in_place(0);
  in_place(1);
  ck_assert(coll_deliver_swapped(&d, &move_coll, &move_part[0], &move_part[1]));
  ck_assert_int_eq(move_swapped, 1);
  ck_assert(move_came(0, 1));
  ck_assert(move_came(1, 0));
  ck_assert_int_eq(move_in[0][2 * BLOCK], move_letter(0, 2)); /* untouched */
}
END_TEST

START_TEST(else_they_do_not) {
  ck_assert(
      !coll_deliver_swapped(&d, &move_coll, &move_part[0], &move_part[1]));
  in_place(0);
  in_place(1);
  stage(0, 1);
  ck_assert(
      !coll_deliver_swapped(&d, &move_coll, &move_part[0], &move_part[1]));
  ck_assert(
      !coll_deliver_swapped(&d, &move_coll, &move_part[1], &move_part[0]));
  ck_assert_int_eq(move_swapped, 0);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("coll_deliver");
  TCase *const all = tcase_create("all");
  tcase_add_checked_fixture(all, move_begin, NULL);
  tcase_add_test(all, a_message_goes_where_it_is_received);
  tcase_add_test(all, a_member_has_one_for_itself);
  tcase_add_test(all, what_does_not_fit_is_cut_off_and_told);
  tcase_add_test(all, what_is_packed_goes_otherwise);
  tcase_add_test(all, events_are_what_goes_and_comes);
  tcase_add_test(all, in_place_two_change_at_once);
  tcase_add_test(all, else_they_do_not);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
