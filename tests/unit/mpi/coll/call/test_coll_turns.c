/* Calls of one team that take turns. Jobs are not run but noted: linked with
   --wrap for net_jobs_add. */
#include "mpi/coll/call/coll_turns.h"

#include <check.h>

#include "check_main.h"
#include "mpi/object/team.h"
#include "vp/run_queue.h"

void __wrap_net_jobs_add(void (*f)(void *arg), void *arg);

enum { MOST = 6 };

static struct team team;
static struct coll coll[MOST];
static size_t share;
static const struct coll *started[MOST];
static int n_started;

static void run(void *arg) {
  (void)arg;
}

void __wrap_net_jobs_add(void (*f)(void *arg), void *arg) {
  ck_assert(f == run);
  ck_assert_int_lt(n_started, MOST);
  started[n_started++] = arg;
}

/* n calls, in the order of their numbers; the first ones are made. */
static void make(int n) {
  vps.plan.memory = (struct memory_plan){.memory = UINT64_C(1) << 30,
                                         .sigma = UINT64_C(64) << 20,
                                         .vps = 4,
                                         .peers = 1};
  share = memory_plan_bytes(&vps.plan.memory, MEMORY_OLDEST);
  ck_assert_uint_gt(share, 100);
  n_started = 0;
  team = (struct team){.colls = coll};
  for (int i = 0; i < n; i++) {
    coll[i] = (struct coll){
        .team = &team, .number = i, .next = i + 1 < n ? &coll[i + 1] : NULL};
  }
}

static void start(int i, size_t bytes) {
  run_queue_lock();
  coll_turns_start_locked(&coll[i], bytes, run);
  run_queue_unlock();
}

static bool take(int i, size_t bytes) {
  run_queue_lock();
  const bool taken = coll_turns_take_locked(&coll[i], bytes, run);
  run_queue_unlock();
  return taken;
}

static void end(int i) {
  run_queue_lock();
  coll_turns_end_locked(&coll[i]);
  run_queue_unlock();
}

static void expect(const char *numbers) {
  int i = 0;
  for (; numbers[i]; i++) {
    ck_assert_int_lt(i, n_started);
    ck_assert_ptr_eq(started[i], &coll[numbers[i] - '0']);
  }
  ck_assert_int_eq(n_started, i);
}

START_TEST(those_that_fit_run_at_once) {
  make(3);
  start(0, share / 2);
  start(1, share - share / 2);
  expect("01");
  start(2, 1);
  expect("01");
  end(1);
  expect("012");
}
END_TEST

START_TEST(the_first_runs_whatever_it_needs) {
  make(3);
  start(0, 2 * share);
  expect("0");
  start(1, 0); /* used is above the share: nothing fits */
  expect("0");
  start(2, 3 * share);
  end(0);
  expect("01");
  end(1);
  expect("012");
}
END_TEST

/* All processes must start them in one order, or two would wait for each other.
 */
START_TEST(none_overtakes_one_that_waits) {
  make(4);
  start(0, share / 2);
  start(1, share);
  start(2, 1);
  start(3, share / 4);
  expect("0");
  end(0);
  expect("01");
  end(1);
  expect("0123");
}
END_TEST

START_TEST(calls_without_a_turn_are_passed_over) {
  make(4);
  start(2, share); /* those before it move no such data */
  expect("2");
  end(2);
  start(3, share);
  expect("23");
}
END_TEST

START_TEST(teams_do_not_wait_for_each_other) {
  make(1);
  struct coll other = {.number = 0};
  struct team another = {.colls = &other};
  other.team = &another;
  start(0, share);
  run_queue_lock();
  coll_turns_start_locked(&other, share, run);
  run_queue_unlock();
  ck_assert_int_eq(n_started, 2);
  ck_assert_ptr_eq(started[1], &other);
}
END_TEST

START_TEST(who_can_wait_itself_takes_its_turn) {
  make(4);
  ck_assert(take(0, share / 2));
  expect("");
  start(1, share / 4);
  expect("1");
  ck_assert(!take(2, share)); /* later, on a thread */
  end(0);
  expect("1");
  end(1);
  expect("12");
  ck_assert(!take(3, 1));
  end(2);
  expect("123");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      those_that_fit_run_at_once,
      the_first_runs_whatever_it_needs,
      none_overtakes_one_that_waits,
      calls_without_a_turn_are_passed_over,
      teams_do_not_wait_for_each_other,
      who_can_wait_itself_takes_its_turn,
      NULL,
  };
  return check_main("coll_turns", tests);
}
