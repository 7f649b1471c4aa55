/* Small messages, packed by their sender. */
#include "mpi/coll/move/coll_stage.h"

#include "check_main.h"
#include "move_check.h"
#include "os/native.h"

static void begin(void) {
  move_begin();
  vps.plan = (struct plan){.v_local = MEMBERS,
                           .memory = {.memory = UINT64_C(1) << 30,
                                      .sigma = UINT64_C(64) << 20,
                                      .vps = MEMBERS,
                                      .peers = 1}};
  ck_assert_uint_ge(coll_small(MEMBERS, MEMBERS), BLOCK);
}

static void end(void) {
  for (int i = 0; i < MEMBERS; i++) {
    native_free(move_part[i].stage);
    native_free(move_part[i].stage_at);
  }
}

START_TEST(each_takes_what_is_for_it) {
  coll_stage(&move_coll, &move_part[1]);
  ck_assert_uint_eq(move_coll.buffer_size, (MEMBERS - 1) * BLOCK);
  ck_assert_ptr_null(coll_part_staged(&move_part[1], 1)); /* not to itself */
  memset(move_out[1], 0, sizeof(move_out[1])); /* the sender has gone on */
  for (int i = 0; i < MEMBERS; i++) {
    coll_stage_take(&move_coll, &move_part[1], &move_part[i]);
    ck_assert_int_eq(move_came(1, i), i != 1);
  }
  ck_assert_int_eq(move_coll.error, MPI_SUCCESS);
}
END_TEST

/* Once for all. */
START_TEST(one_message_is_packed_once) {
  move_part[2].send.shape = SIDE_ONE;
  for (int i = 0; i < MEMBERS; i++) {
    memset(move_out[2], move_letter(2, i), BLOCK);
    if (i == 0) {
      coll_stage(&move_coll, &move_part[2]);
      ck_assert_uint_eq(move_coll.buffer_size, BLOCK);
    }
  }
  coll_stage_take(&move_coll, &move_part[2], &move_part[0]);
  ck_assert(move_came(2, 0));
  coll_stage_take(&move_coll, &move_part[2], &move_part[3]);
  ck_assert_int_eq(move_in[3][2 * BLOCK], move_letter(2, 0));
}
END_TEST

START_TEST(large_ones_are_not_packed) {
  const size_t small = coll_small(MEMBERS, MEMBERS);
  char *const large = calloc(MEMBERS, small + 1);
  ck_assert_ptr_nonnull(large);
  move_part[0].send.base = large;
  move_part[0].send.count = small + 1;
  coll_stage(&move_coll, &move_part[0]);
  ck_assert_ptr_null(move_part[0].stage);
  ck_assert_uint_eq(move_coll.buffer_size, 0);
  coll_stage_take(&move_coll, &move_part[0], &move_part[1]); /* nothing */
  free(large);
}
END_TEST

/* Another call of the team, before this one, has all the room. */
START_TEST(without_room_they_go_as_the_large_ones) {
  struct coll before = {.number = 0, .next = &move_coll};
  struct team team = {.colls = &before};
  before.team = move_coll.team = &team;
  move_coll.number = 1;
  run_queue_lock();
  ck_assert(coll_reserve_locked(
      &before, &move_vp[0], memory_plan_bytes(&vps.plan.memory, MEMORY_PACKED),
      COLL_TAKE));
  run_queue_unlock();
  coll_stage(&move_coll, &move_part[0]);
  ck_assert_ptr_null(move_part[0].stage);
  ck_assert_ptr_null(coll_part_staged(&move_part[0], 1));
}
END_TEST

START_TEST(what_does_not_fit_is_cut_off_and_told) {
  coll_stage(&move_coll, &move_part[0]);
  move_part[1].receive.count = BLOCK / 2;
  coll_stage_take(&move_coll, &move_part[0], &move_part[1]);
  ck_assert_int_eq(move_coll.error, MPI_ERR_TRUNCATE);
  ck_assert_int_eq(move_in[1][BLOCK / 2 - 1], move_letter(0, 1));
  ck_assert_int_eq(move_in[1][BLOCK / 2], 0);
  move_coll.error = MPI_SUCCESS;
  move_part[2].receive.shape = SIDE_NONE;
  coll_stage_take(&move_coll, &move_part[0], &move_part[2]);
  ck_assert_int_eq(move_coll.error, MPI_ERR_TRUNCATE);
  ck_assert(!move_came(0, 2));
}
END_TEST

START_TEST(who_sends_nothing_packs_nothing) {
  move_part[0].send.shape = SIDE_NONE;
  coll_stage(&move_coll, &move_part[0]);
  ck_assert_ptr_null(move_part[0].stage);
  coll_stage_take(&move_coll, &move_part[0], &move_part[1]);
  ck_assert_int_eq(move_coll.error, MPI_SUCCESS);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("coll_stage");
  TCase *const all = tcase_create("all");
  tcase_add_checked_fixture(all, begin, end);
  tcase_add_test(all, each_takes_what_is_for_it);
  tcase_add_test(all, one_message_is_packed_once);
  tcase_add_test(all, large_ones_are_not_packed);
  tcase_add_test(all, without_room_they_go_as_the_large_ones);
  tcase_add_test(all, what_does_not_fit_is_cut_off_and_told);
  tcase_add_test(all, who_sends_nothing_packs_nothing);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
