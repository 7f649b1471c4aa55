/* A standstill is seen and told once. VPs are only described; no other process
   is asked. What is said comes by a pipe. */
#include "mpi/verify/standstill.h"

#include <check.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"
#include "mpi/object/rank.h"
#include "vp/vp.h"

enum { VPS = 3, MS = 200 };

static struct vp vp[VPS];
static struct rank ranks[VPS];
static int ends[2], stderr_before;

/* The first waits, the second polls, the last is not there. */
static void describe(void) {
  for (int i = 0; i < VPS; i++) {
    ranks[i] = (struct rank){0};
    vp[i] = (struct vp){.rank = i, .mpi = &ranks[i], .state = VP_BLOCKED};
    vp[i].waits_in = "MPI_Recv";
  }
  vp[1].state = VP_RUNNING;
  ranks[1].looks.on = true;
  ranks[1].looks.in = "MPI_Test";
  vp[2].state = VP_RUNNING;
  vp[2].dormant = true;
  vps.item = vp;
  vps.n = VPS;
}

static void begin(void) {
  ck_assert_int_eq(pipe(ends), 0);
  stderr_before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  setenv(STANDSTILL_AFTER, "200", 1);
  standstill_watch();
}

/* What has been said when the watch ends, in `said`. */
static char said[4096];

static void finish(void) {
  size_t n = strlen(said);
  standstill_watch_end();
  dup2(stderr_before, STDERR_FILENO);
  close(stderr_before);
  for (ssize_t got;
       (got = read(ends[0], said + n, sizeof(said) - 1 - n)) > 0;) {
    n += (size_t)got;
  }
  close(ends[0]);
}

static void let_pass(void) {
  usleep(4 * MS * 1000);
}

START_TEST(a_standstill_is_told_once) {
  struct pollfd p = {.events = POLLIN};
  describe();
  begin();
  p.fd = ends[0];
  ck_assert_int_eq(poll(&p, 1, -1), 1);
  let_pass();
  finish();
  ck_assert_str_eq(said,
                   "pems: standstill: for 0.2 s no rank has computed or "
                   "got a message, and some poll in vain: see what they "
                   "wait for:\n  rank 0 waits in MPI_Recv\n  rank 1 polls "
                   "in MPI_Test\n");
}
END_TEST

static void expect_nothing(void) {
  begin();
  let_pass();
  finish();
  ck_assert_str_eq(said, "");
}

START_TEST(who_computes_does_not_stand_still) {
  describe();
  vp[0].state = VP_RUNNING;
  expect_nothing();
}
END_TEST

START_TEST(who_only_waits_is_none_of_its_business) {
  describe();
  vp[1].state = VP_BLOCKED;
  ranks[1].looks.on = false;
  expect_nothing();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_standstill_is_told_once,
                                who_computes_does_not_stand_still,
                                who_only_waits_is_none_of_its_business, NULL};
  return check_main("standstill", tests);
}
