/* At which superstep ranks stop: by number, and when somebody asks. */
#include "mpi/job/checkpoint_ask.h"

#include "interpose/handler.h"
#include "mpi/object/rank.h"
#include "vp/run_queue.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check_main.h"

static struct rank rank[2];
static struct vp vp[2] = {{.mpi = &rank[0]}, {.mpi = &rank[1]}};
static struct sigaction usr1;

/* interpose/handler.c's. */
int handlers_real_set(int number, const struct sigaction *action,
                      struct sigaction *old) {
  (void)old;
  ck_assert_int_eq(number, SIGUSR1);
  usr1 = *action;
  return 0;
}

static void begin(const char *text, uint64_t superstep) {
  struct wish wish;
  ck_assert_int_eq(wish_parse(&wish, text, NULL), 0);
  checkpoint_ask_prepare(&wish, superstep);
  vp[0].superstep = vp[1].superstep = superstep;
}

static void done(void) {
  run_queue_lock();
  checkpoint_ask_done_locked(vp[0].superstep);
  run_queue_unlock();
}

/* Both begin their next superstep: do both stop there? */
static bool stop(void) {
  const bool first = checkpoint_ask_superstep(&vp[0]);
  const bool second = checkpoint_ask_superstep(&vp[1]);
  ck_assert_int_eq(first, second);
  if (first) {
    ck_assert(checkpoint_ask_await(&vp[0]) && checkpoint_ask_await(&vp[1]));
    done();
  }
  return first;
}

START_TEST(by_number) {
  begin("d,every=3", 0);
  for (int n = 1; n <= 9; n++) {
    ck_assert_int_eq(stop(), n % 3 == 0);
  }
  /* After a restart they count on. */
  begin("d,every=4", 6);
  ck_assert(!stop());
  ck_assert(stop());
}
END_TEST

START_TEST(who_asks_gets_one_soon) {
  begin("d", 0);
  ck_assert(!stop());
  checkpoint_ask();
  ck_assert(stop());
  ck_assert(!stop());
  /* One rank has begun the superstep when another one asks: the next. */
  ck_assert(!checkpoint_ask_superstep(&vp[0]));
  checkpoint_ask();
  ck_assert(!checkpoint_ask_superstep(&vp[1]));
  checkpoint_ask();
  ck_assert(stop());
  ck_assert(!stop());
  checkpoint_ask_start();
  usr1.sa_handler(SIGUSR1);
  ck_assert(stop());
  ck_assert(!stop());
}
END_TEST

START_TEST(who_leaves_asks_until_the_job_ends) {
  begin("d,on-term", 0);
  ck_assert(!stop());
  ck_assert(!checkpoint_ask_leaves());
  ck_assert(checkpoint_ask_leave());
  ck_assert(checkpoint_ask_leaves());
  ck_assert(!checkpoint_ask_leave());
  ck_assert(stop()); /* it fails, say */
  ck_assert(stop());
}
END_TEST

/* As long as the limit of the test allows. */
static void await_attempt(void) {
  while (!vp_is_to_stop()) {
    usleep(10000);
  }
}

static atomic_bool asked;

static bool outside(void) {
  return atomic_exchange(&asked, false);
}

static void watch(int n) {
  begin("d", 7);
  vps = (struct vps){.item = vp, .n = n};
  asked = true;
  checkpoint_ask_watch(outside);
  await_attempt();
}

/* Nobody comes to a superstep. */
START_TEST(who_does_not_get_one_stops_ranks_wherever_they_are) {
  watch(1);
  ck_assert(checkpoint_ask_between(&vp[0]));
  ck_assert(!vp_is_to_stop());
  ck_assert_uint_eq(checkpoint_ask_join(&vp[0]), 7);
  done();
  /* That was what was asked for. */
  ck_assert(!checkpoint_ask_between(&vp[0]));
  ck_assert(!checkpoint_ask_superstep(&vp[0]));
  checkpoint_ask_end();
}
END_TEST

START_TEST(those_that_keep_others_from_going_on_do_so_for_now) {
  watch(2);
  run_queue_lock();
  ck_assert(checkpoint_ask_relieve_locked());
  ck_assert(!vp_is_to_stop());
  ck_assert(!checkpoint_ask_relieve_locked());
  run_queue_unlock();
  ck_assert(!checkpoint_ask_between(&vp[0]));
  await_attempt(); /* the next one */
  checkpoint_ask_end();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      by_number,
      who_asks_gets_one_soon,
      who_leaves_asks_until_the_job_ends,
      who_does_not_get_one_stops_ranks_wherever_they_are,
      those_that_keep_others_from_going_on_do_so_for_now,
      NULL};
  return check_main("checkpoint_ask", tests);
}
