/* Calls that threads make which are no VP's: who runs them, and what becomes of
   waits meanwhile. VPs are threads without contexts. */
#define _GNU_SOURCE
#include "vp/upcall.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/self.h"
#include "check_main.h"
#include "vp/dispatch.h"
#include "vp/run_queue.h"

enum { VPS = 4, CALLS = 500, CALLERS = 3 };

static struct vp vp[VPS];
static struct run_queue_waiting waiting;
static bool over; /* under the lock */
static void (*wait_locked)(struct vp *);
static atomic_int runs[VPS], begun;

static void *vp_main(void *arg) {
  struct vp *const me = arg;
  self.vp = me;
  self.inside = 1;
  run_queue_enter(me);
  run_queue_lock();
  while (!over) {
    wait_locked(me);
  }
  run_queue_unlock();
  run_queue_leave(me);
  return NULL;
}

/* A call for one VP, or for all. */
struct counted {
  struct upcall upcall;
  int vp; /* -1: any */
  int runs;
};

static bool is_for(const struct upcall *u, const struct vp *v) {
  const struct counted *const c = (const struct counted *)u;
  return c->vp < 0 || c->vp == v->index;
}

static void count(struct upcall *u, struct vp *v) {
  struct counted *const c = (struct counted *)u;
  ck_assert_ptr_eq(self.vp, v);
  ck_assert_int_gt(self.inside, 0);
  ck_assert_int_eq(v->state, VP_RUNNING);
  c->runs++;
  runs[v->index]++;
}

static void make(int of) {
  struct counted c = {{.is_for = is_for, .run = count}, of, 0};
  run_queue_upcall(&c.upcall);
  ck_assert_int_eq(c.runs, 1);
  ck_assert_ptr_null(self.vp);
}

static void run_vps(void (*wait)(struct vp *), int k, void (*f)(void)) {
  wait_locked = wait;
  over = false;
  for (int i = 0; i < VPS; i++) {
    vp[i] = (struct vp){.rank = i, .index = i};
  }
  vps.item = vp;
  vps.n = VPS;
  dispatch_create(vp, VPS, k, &policy_alternate);
  for (int i = 0; i < VPS; i++) {
    pthread_create(&vp[i].thread, NULL, vp_main, &vp[i]);
  }
  f();
  run_queue_lock();
  over = true;
  run_queue_wake_locked(&waiting);
  run_queue_unlock();
  for (int i = 0; i < VPS; i++) {
    pthread_join(vp[i].thread, NULL);
  }
  ck_assert_int_eq(dispatch_done(), VPS);
  ck_assert_ptr_null(waiting.first);
  dispatch_destroy();
  vps.item = NULL;
  vps.n = 0;
}

/* Who never waits for good: the scheduler must not see that all do. */
static void not_stuck(void) {
}

static void wait_for_event(struct vp *me) {
  run_queue_wait_locked(me, &waiting, "an event");
}

static void poll(struct vp *me) {
  run_queue_pause_locked(me, "a poll", 1, false);
}

static void one_after_another(void) {
  for (int i = 0; i < CALLS; i++) {
    make(i % VPS);
  }
  for (int i = 0; i < VPS; i++) {
    ck_assert_int_eq(runs[i], CALLS / VPS);
  }
}

START_TEST(the_vp_makes_the_call_and_waits_on) {
  dispatch_on_stuck(not_stuck);
  run_vps(wait_for_event, 1 + _i, one_after_another);
}
END_TEST

START_TEST(who_polls_makes_it_too) {
  run_vps(poll, 1 + _i, one_after_another);
}
END_TEST

static void *caller(void *arg) {
  (void)arg;
  for (int i = 0; i < CALLS; i++) {
    make(-1);
  }
  return NULL;
}

/* Events come at any moment: none is lost, and no VP is made ready twice. */
static void with_events(void) {
  pthread_t thread[CALLERS];
  for (int i = 0; i < CALLERS; i++) {
    pthread_create(&thread[i], NULL, caller, NULL);
  }
  for (int i = 0; i < CALLS; i++) {
    run_queue_lock();
    switch (i % 3) {
    case 0:
      run_queue_wake_locked(&waiting);
      break;
    case 1:
      run_queue_wake_one_locked(&waiting, &vp[i % VPS]);
      break;
    default:
      run_queue_wake_soon_locked(&waiting, &vp[i % VPS]);
    }
    run_queue_unlock();
  }
  for (int i = 0; i < CALLERS; i++) {
    pthread_join(thread[i], NULL);
  }
  int all = 0;
  for (int i = 0; i < VPS; i++) {
    all += runs[i];
  }
  ck_assert_int_eq(all, CALLERS * CALLS);
}

START_TEST(events_come_meanwhile) {
  dispatch_on_stuck(not_stuck);
  run_vps(wait_for_event, 1 + _i, with_events);
}
END_TEST

/* --- threads that take turns --- */

static void *shared_main(void *arg) {
  struct vp *const me = arg;
  self.vp = me;
  run_queue_enter(me);
  run_queue_share(me);
  run_queue_thread_enter(me);
  run_queue_lock();
  begun++;
  while (!over) {
    run_queue_wait_locked(me, &waiting, "an event");
  }
  run_queue_unlock();
  run_queue_thread_leave(me);
  run_queue_leave(me);
  return NULL;
}

static void count_turn(struct upcall *u, struct vp *v) {
  ck_assert(self.helper);
  ck_assert(v->on);
  ck_assert_ptr_eq(atomic_load(&v->in_mpi), &self);
  count(u, v);
}

START_TEST(the_caller_is_a_thread_of_a_vp_whose_threads_take_turns) {
  struct counted c = {{.is_for = is_for, .run = count_turn}, -1, 0};
  dispatch_on_stuck(not_stuck);
  begun = 0;
  over = false;
  vp[0] = (struct vp){.rank = 0, .index = 0};
  vps.item = vp;
  vps.n = 1;
  dispatch_create(vp, 1, 1, &policy_alternate);
  pthread_create(&vp[0].thread, NULL, shared_main, &vp[0]);
  while (!begun) {
    sched_yield();
  }
  for (int i = 1; i <= CALLS; i++) {
    run_queue_upcall(&c.upcall);
    ck_assert_int_eq(c.runs, i);
    ck_assert_ptr_null(self.vp);
  }
  run_queue_lock();
  over = true;
  run_queue_wake_locked(&waiting);
  run_queue_unlock();
  pthread_join(vp[0].thread, NULL);
  dispatch_destroy();
  vps.n = 0;
}
END_TEST

int main(void) {
  Suite *suite = suite_create("upcall");
  TCase *t = tcase_create("upcall");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, the_vp_makes_the_call_and_waits_on, 0, VPS);
  tcase_add_loop_test(t, who_polls_makes_it_too, 0, VPS);
  tcase_add_loop_test(t, events_come_meanwhile, 0, VPS);
  tcase_add_test(t, the_caller_is_a_thread_of_a_vp_whose_threads_take_turns);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
