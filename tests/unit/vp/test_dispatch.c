/* Who is given a slot, step by step: VPs without contexts, and none of them has
   a thread. What needs contexts is in test_run_queue.c. */
#include "vp/dispatch.h"

#include <check.h>

#include "check_main.h"

enum { N = 5, K = 2 };

static struct vp vp[N];
static int stuck;

static void count_stuck(void) {
  stuck++;
}

static void make(int dormant, const struct policy *policy) {
  for (int i = 0; i < N; i++) {
    vp[i] = (struct vp){.rank = i, .index = i, .dormant = i >= N - dormant};
  }
  stuck = 0;
  dispatch_on_stuck(count_stuck);
  dispatch_create(vp, N, K, policy);
  run_queue_lock();
  dispatch_locked();
  run_queue_unlock();
}

/* The states of all, as letters. */
static void expect(const char *states) {
  int running = 0;
  for (int i = 0; i < N; i++) {
    static const char letter[] = {[VP_READY] = 'r',
                                  [VP_RUNNING] = 'R',
                                  [VP_BLOCKED] = 'b',
                                  [VP_DONE] = 'd'};
    ck_assert_msg(letter[vp[i].state] == states[i], "VP %d: %c, not %c", i,
                  letter[vp[i].state], states[i]);
    running += vp[i].state == VP_RUNNING;
    ck_assert_int_eq(vp[i].go.word, vp[i].state == VP_RUNNING);
  }
  ck_assert_int_eq(dispatch_running(), running);
}

static void change(struct vp *one, void (*f)(struct vp *)) {
  run_queue_lock();
  one->go.word = 0; /* as its thread does when it wakes */
  f(one);
  dispatch_locked();
  run_queue_unlock();
}

static bool wanted_by_none(void) {
  run_queue_lock();
  const bool unwanted = dispatch_unwanted_locked();
  run_queue_unlock();
  return unwanted;
}

static void block(struct vp *one) {
  one->steps++;
  dispatch_pass_on_locked(one, VP_BLOCKED);
}

static void ask_in_vain(struct vp *one) {
  dispatch_pause_locked(one);
  block(one);
}

static enum dispatch_state state(void) {
  run_queue_lock();
  const enum dispatch_state s = dispatch_state_locked();
  run_queue_unlock();
  return s;
}

START_TEST(slots_go_to_the_first_by_turn) {
  make(0, &policy_id);
  expect("RRrrr");
  ck_assert_int_eq(vp[0].slot, 0);
  ck_assert_int_eq(vp[1].slot, 1);
  ck_assert(!dispatch_spare()); /* others wait for a slot */
  ck_assert(!dispatch_none_ready());
  change(&vp[1], block);
  expect("RbRrr");
  ck_assert_int_eq(vp[2].slot, 1); /* which was free */
  change(&vp[1], dispatch_ready_locked);
  expect("RrRrr");
  change(&vp[0], block);
  expect("brRRr"); /* by superstep, then by number */
  ck_assert_int_eq(vp[3].slot, 0);
  dispatch_destroy();
}
END_TEST

START_TEST(a_vp_gets_the_slot_that_it_had) {
  make(3, &policy_id);
  expect("RRddd");
  ck_assert(dispatch_spare());
  ck_assert(dispatch_none_ready());
  ck_assert(wanted_by_none());
  change(&vp[0], block);
  change(&vp[1], block);
  ck_assert_int_ne(stuck, 0);
  run_queue_lock();
  dispatch_ready_locked(&vp[0]);
  dispatch_ready_locked(&vp[1]);
  vp[0].go.word = vp[1].go.word = 0;
  dispatch_locked();
  run_queue_unlock();
  ck_assert_int_eq(vp[0].slot, 0);
  ck_assert_int_eq(vp[1].slot, 1);
  dispatch_destroy();
}
END_TEST

START_TEST(they_end_or_are_stuck) {
  make(0, &policy_alternate);
  ck_assert_int_eq(state(), DISPATCH_BUSY);
  for (int i = 0; i < N - 1; i++) {
    change(&vp[i], dispatch_end_locked);
    ck_assert_int_eq(dispatch_done(), i + 1);
  }
  expect("ddddR");
  ck_assert_int_eq(stuck, 0);
  run_queue_lock();
  vp[N - 1].go.word = 0;
  block(&vp[N - 1]);
  run_queue_unlock();
  ck_assert_int_eq(stuck, 1);
  ck_assert_int_eq(state(), DISPATCH_STUCK);
  change(&vp[N - 1], dispatch_ready_locked);
  change(&vp[N - 1], dispatch_end_locked);
  ck_assert_int_eq(state(), DISPATCH_ENDED);
  ck_assert_int_eq(stuck, 1);
  dispatch_destroy();
}
END_TEST

START_TEST(dormant_ones_count_as_ended) {
  make(N, &policy_alternate);
  expect("ddddd");
  ck_assert_int_eq(dispatch_dormant(), N);
  ck_assert_int_eq(dispatch_done(), 0);
  ck_assert_int_eq(state(), DISPATCH_ENDED);
  dispatch_add(&vp[3]);
  ck_assert_int_eq(dispatch_dormant(), N - 1);
  ck_assert_int_eq(state(), DISPATCH_BUSY);
  run_queue_lock();
  dispatch_locked();
  run_queue_unlock();
  expect("dddRd");
  change(&vp[3], dispatch_end_locked);
  ck_assert_int_eq(dispatch_done(), 1);
  dispatch_destroy();
}
END_TEST

START_TEST(one_that_asks_in_vain_runs_when_nobody_else_is_ready) {
  make(2, &policy_id);
  expect("RRrdd");
  run_queue_lock();
  ck_assert(dispatch_in_the_way_locked());
  run_queue_unlock();
  change(&vp[0], ask_in_vain);
  ck_assert(!wanted_by_none());
  ck_assert(dispatch_is_paused_locked(&vp[0]));
  expect("bRRdd");
  change(&vp[2], dispatch_end_locked);
  ck_assert(!dispatch_is_paused_locked(&vp[0]));
  expect("RRddd");
  run_queue_lock();
  ck_assert(!dispatch_in_the_way_locked());
  run_queue_unlock();
  ck_assert_int_eq(stuck, 0);
  dispatch_destroy();
}
END_TEST

/* Without a context it is in memory, so that it is ready at once. */
START_TEST(something_happens_for_one_that_asked_in_vain) {
  make(0, &policy_id);
  change(&vp[0], ask_in_vain);
  expect("bRRrr");
  run_queue_lock();
  dispatch_due_locked(&vp[0]);
  ck_assert(!dispatch_is_paused_locked(&vp[0]));
  ck_assert(!dispatch_is_due_locked(&vp[0]));
  dispatch_locked();
  run_queue_unlock();
  expect("rRRrr");
  for (int i = 1; i < 4; i++) {
    change(&vp[i], dispatch_end_locked);
  }
  expect("RdddR");
  dispatch_destroy();
}
END_TEST

static void ready_again(struct vp *one) {
  block(one);
  dispatch_ready_locked(one);
}

/* Others are always ready; it has its turn when N have been started, the first
   of them when it paused. */
START_TEST(one_that_asks_in_vain_has_its_turn) {
  make(0, &policy_id);
  change(&vp[0], ask_in_vain);
  int turns = 0;
  for (; vp[0].state == VP_BLOCKED && turns < 2 * N; turns++) {
    for (int i = 1; i < N; i++) {
      if (vp[i].state == VP_RUNNING) {
        change(&vp[i], ready_again);
        break;
      }
    }
  }
  ck_assert_int_eq(turns, N - 1);
  ck_assert_int_ne(vp[0].state, VP_BLOCKED);
  dispatch_destroy();
}
END_TEST

static void yield(struct vp *one) {
  dispatch_yield_locked(one);
  block(one);
}

START_TEST(one_with_work_lets_those_that_are_ready_run) {
  make(1, &policy_id);
  expect("RRrrd");
  change(&vp[0], yield);
  ck_assert(dispatch_is_due_locked(&vp[0]));
  expect("bRRrd");
  change(&vp[1], yield);
  expect("rbRRd"); /* no VP is ready: the first that did is read ahead */
  change(&vp[2], dispatch_end_locked);
  expect("RrdRd");
  run_queue_lock();
  ck_assert(dispatch_in_the_way_locked()); /* of the second */
  run_queue_unlock();
  change(&vp[3], dispatch_end_locked);
  expect("RRddd");
  dispatch_destroy();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      slots_go_to_the_first_by_turn,
      a_vp_gets_the_slot_that_it_had,
      they_end_or_are_stuck,
      dormant_ones_count_as_ended,
      one_that_asks_in_vain_runs_when_nobody_else_is_ready,
      something_happens_for_one_that_asked_in_vain,
      one_that_asks_in_vain_has_its_turn,
      one_with_work_lets_those_that_are_ready_run,
      NULL,
  };
  return check_main("dispatch", tests);
}
