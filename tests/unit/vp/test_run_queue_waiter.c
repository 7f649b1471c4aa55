/* The lists of threads that wait; no other thread runs, so no lock is needed.
 */
#include "vp/run_queue_waiter.h"

#include <check.h>

#include "check_main.h"

static struct vp vp[3];

START_TEST(the_threads_of_a_vp_are_taken_out) {
  struct run_queue_waiter w[4] = {
      {.vp = &vp[1]}, {.vp = &vp[0]}, {.vp = &vp[1]}, {.vp = &vp[2]}};
  for (int i = 0; i < 3; i++) {
    w[i].next = &w[i + 1];
  }
  struct run_queue_waiting waiting = {w};
  ck_assert_ptr_eq(run_queue_waiter_take_locked(&waiting, &vp[1]), &w[0]);
  ck_assert_ptr_eq(waiting.first, &w[1]);
  ck_assert_ptr_eq(run_queue_waiter_take_locked(&waiting, &vp[1]), &w[2]);
  ck_assert_ptr_null(run_queue_waiter_take_locked(&waiting, &vp[1]));
  ck_assert_ptr_eq(w[1].next, &w[3]);
  ck_assert_ptr_eq(run_queue_waiter_take_locked(&waiting, &vp[2]), &w[3]);
  ck_assert_ptr_eq(run_queue_waiter_take_locked(&waiting, &vp[0]), &w[1]);
  ck_assert_ptr_null(waiting.first);
}
END_TEST

START_TEST(who_waits_no_longer_is_out) {
  struct run_queue_waiter w[3] = {
      {.vp = &vp[0]}, {.vp = &vp[1]}, {.vp = &vp[2]}};
  struct run_queue_waiting waiting = {NULL};
  for (int i = 0; i < 3; i++) {
    run_queue_waiter_add_locked(&waiting, &w[i]);
  }
  run_queue_waiter_remove_locked(&waiting, &w[1]);
  run_queue_waiter_remove_locked(&waiting, &w[1]);
  ck_assert_ptr_eq(waiting.first, &w[2]);
  ck_assert_ptr_eq(w[2].next, &w[0]);
  ck_assert_ptr_eq(run_queue_waiter_take_locked(&waiting, &vp[2]), &w[2]);
  run_queue_waiter_remove_locked(&waiting, &w[2]); /* it has been taken */
  ck_assert_ptr_eq(waiting.first, &w[0]);
}
END_TEST

START_TEST(nobody_waits_in_an_empty_list) {
  struct run_queue_waiting none = {0};
  ck_assert_ptr_null(run_queue_waiter_take_locked(&none, &vp[0]));
}
END_TEST

START_TEST(the_vp_is_handed_over_in_turn) {
  struct run_queue_waiter w[3] = {
      {.vp = &vp[0]}, {.vp = &vp[0]}, {.vp = &vp[0]}};
  for (int i = 0; i < 3; i++) {
    w[i].next = &w[0]; /* from an earlier list */
    run_queue_waiter_want_locked(&w[i]);
  }
  for (int i = 0; i < 3; i++) {
    vp[0].on = false;
    ck_assert_ptr_eq(vp[0].wanting, &w[i]);
    run_queue_lock();
    run_queue_waiter_hand_over_locked(&vp[0], i == 1);
    ck_assert(vp[0].on);
    ck_assert_int_eq(w[i].go.word, 0); /* not under the lock */
    run_queue_unlock();
    ck_assert_int_eq(w[i].go.word, 1);
    ck_assert_int_eq(w[i].started, i == 1);
  }
  ck_assert_ptr_null(vp[0].wanting);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      the_threads_of_a_vp_are_taken_out,
      who_waits_no_longer_is_out,
      nobody_waits_in_an_empty_list,
      the_vp_is_handed_over_in_turn,
      NULL,
  };
  return check_main("run_queue_waiter", tests);
}
