/* How long a VP that waits stays awake, and for whom. */
#include "vp/linger.h"

#include "check_main.h"
#include "os/futex.h"
#include "vp/run_queue_lock.h"

#include <check.h>

static struct vp vp;
static int looks, enough, slept;

static bool look(void) {
  if (++looks == enough) {
    futex_post(&vp.go.word);
  }
  return looks == enough;
}

static void sleeps(void) {
  slept++;
}

static const struct linger_user user = {look, sleeps};

static void prepare(int looks_needed) {
  vp = (struct vp){0};
  vps.plan.k = 1;
  looks = slept = 0;
  enough = looks_needed;
  linger_for(&user);
}

/* As a VP that waits, and sleeps if that was in vain; false if it does not stay
   awake. */
static bool wait_once(void) {
  run_queue_lock();
  const bool may = linger_may_look_locked(&vp);
  run_queue_unlock();
  if (may) {
    linger_look(&vp);
  }
  if (!futex_is_posted(&vp.go.word)) {
    linger(&vp);
  }
  return may;
}

START_TEST(looks_until_it_may_go_on) {
  prepare(5);
  ck_assert(wait_once());
  ck_assert_int_eq(looks, 5);
  ck_assert_int_eq(slept, 0);
  ck_assert(futex_is_posted(&vp.go.word));
}
END_TEST

START_TEST(says_that_it_sleeps) {
  prepare(0);
  ck_assert(wait_once());
  ck_assert_int_gt(looks, 0);
  ck_assert_int_eq(slept, 1);
}
END_TEST

START_TEST(in_vain_it_looks_ever_more_seldom) {
  prepare(0);
  int awake = 0;
  for (int i = 0; i < 200; i++) {
    awake += wait_once();
  }
  ck_assert_int_ge(awake, 3);
  ck_assert_int_le(awake, 10);
  ck_assert_int_eq(slept, 200);
}
END_TEST

START_TEST(comes_back_when_it_pays) {
  prepare(0);
  int awake = 0;
  wait_once();
  for (int i = 0; i < 100; i++) {
    vp.go.word = looks = 0;
    enough = 1;
    awake += wait_once();
  }
  ck_assert_int_ge(awake, 99);
}
END_TEST

/* There nobody else has anything to look for. */
START_TEST(in_one_process_it_glances) {
  prepare(1);
  ck_assert_int_eq(vp.linger_last, 0);
  linger(&vp); /* not where it would look */
  ck_assert_int_eq(vp.linger_last, 0);
  ck_assert_int_eq(slept, 1);
  linger_for(NULL);
  ck_assert(!wait_once());
  ck_assert_int_eq(vp.linger_last, 1);
  ck_assert_int_eq(looks, 0);
  ck_assert_int_eq(slept, 1);
}
END_TEST

START_TEST(not_where_as_many_run_as_may) {
  prepare(1);
  linger_for(NULL);
  vps.plan.k = 0;
  linger(&vp);
  ck_assert_int_eq(vp.linger_last, 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {looks_until_it_may_go_on,
                                says_that_it_sleeps,
                                in_vain_it_looks_ever_more_seldom,
                                comes_back_when_it_pays,
                                in_one_process_it_glances,
                                not_where_as_many_run_as_may,
                                NULL};
  return check_main("linger", tests);
}
