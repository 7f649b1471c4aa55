/* At which superstep ranks stop: by number, and when somebody asks. */
#include "mpi/job/checkpoint_ask.h"

#include "interpose/handler.h"
#include "mpi/object/rank.h"
#include "mpi_below/net.h"
#include "net/am.h"
#include "vp/run_queue.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
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

/* Which process this is, of how many; what it handles, and how often it asks
   the first one. */
static int me, processes = 1, wants;
static am_handler *handler;

int __wrap_net_rank(void) {
  return me;
}

int __wrap_net_size(void) {
  return processes;
}

void __wrap_am_register(enum am_kind kind, am_handler *handles) {
  handler = kind == AM_SAVE ? handles : handler;
}

/* Messages between processes, as checkpoint_ask.c has them. */
enum { WANT, HOLD, REACHED, STOP, TRY, STOPPED, STUCK, GO_ON, TAKE };

void __wrap_am_post_locked(int process, enum am_kind kind, uint64_t key,
                           const void *header, size_t header_n,
                           const void *data, size_t n) {
  uint64_t op;
  (void)process, (void)key, (void)header_n, (void)data, (void)n;
  memcpy(&op, header, sizeof(op));
  wants += kind == AM_SAVE && op == WANT;
}

static void deliver(uint64_t op, uint64_t superstep, uint64_t round) {
  const uint64_t m[] = {op, superstep, round};
  (void)handler(0, 0, (const char *)m, sizeof(m));
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

/* The second of two processes. */
static void begin_second(const char *text) {
  me = 1;
  processes = 2;
  vps = (struct vps){.item = vp, .n = 1};
  begin(text, 4);
}

/* The first process is over with a checkpoint, for which all have stopped at
   calls for messages, and agrees on the next before this one, on a busy
   machine, is over with it. */
START_TEST(what_is_agreed_on_early_is_not_forgotten) {
  begin_second("d");
  deliver(HOLD, 0, 0);
  deliver(STOP, 5, 0);
  deliver(TRY, 0, 1);
  ck_assert(vp_is_to_stop());
  deliver(TAKE, 0, 1);
  ck_assert(!vp_is_to_stop());
  deliver(HOLD, 0, 1);
  deliver(STOP, 5, 1);
  done();
  ck_assert(checkpoint_ask_superstep(&vp[0]));
  ck_assert(checkpoint_ask_await(&vp[0]));
  deliver(TAKE, 0, 1);
  done();
  ck_assert(!checkpoint_ask_superstep(&vp[0]));
}
END_TEST

START_TEST(who_asks_while_one_is_taken_has_it) {
  begin_second("d,every=5");
  deliver(TAKE, 0, 0);
  checkpoint_ask();
  ck_assert(checkpoint_ask_superstep(&vp[0])); /* the fifth */
  ck_assert_int_eq(wants, 0);
  done();
  ck_assert(!checkpoint_ask_superstep(&vp[0]));
  checkpoint_ask();
  ck_assert(checkpoint_ask_superstep(&vp[0]));
  ck_assert_int_eq(wants, 1);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      by_number,
      who_asks_gets_one_soon,
      who_leaves_asks_until_the_job_ends,
      who_does_not_get_one_stops_ranks_wherever_they_are,
      those_that_keep_others_from_going_on_do_so_for_now,
      what_is_agreed_on_early_is_not_forgotten,
      who_asks_while_one_is_taken_has_it,
      NULL};
  return check_main("checkpoint_ask", tests);
}
