/* What is told of a job that a signal ends, whatever it interrupts. VPs are
   only described. */
#include "mpi/job/interrupted.h"

#include <check.h>
#include <signal.h>
#include <string.h>

#include "check_child.h"
#include "check_main.h"
#include "interpose/fatal.h"
#include "mpi/object/rank.h"
#include "os/clock.h"
#include "vp/run_queue.h"
#include "vp/vp.h"

void (*fatal_on_interrupt)(int number);

static struct vp vp;
static struct rank rank;
static char said[16384];

static void start(void) {
  vp = (struct vp){.mpi = &rank, .state = VP_BLOCKED, .waits_in = "MPI_Recv"};
  vps.item = &vp;
  vps.n = 1;
  interrupted_start("unix", clock_ns());
}

static void interrupt(void) {
  start();
  fatal_on_interrupt(SIGINT);
  fatal_on_interrupt(SIGTERM);
  interrupted_stop();
}

START_TEST(the_first_signal_is_told) {
  ck_assert_int_eq(check_child_exit(interrupt, said, sizeof(said)),
                   CHILD_RETURNED);
  ck_assert_int_eq(strncmp(said, "RESULT pems v=", 14), 0);
  ck_assert_ptr_nonnull(
      strstr(said, " ended_by=SIGINT\npems: SIGINT: what the ranks were doing:"
                   "\n  rank 0 waits in MPI_Recv\n"));
  ck_assert_ptr_null(strstr(said, "SIGTERM"));
}
END_TEST

/* As by the thread that the signal has interrupted. */
static void interrupt_scheduler(void) {
  start();
  run_queue_lock();
  fatal_on_interrupt(SIGTERM);
}

START_TEST(a_lock_that_is_held_does_not_stop_it) {
  ck_assert_int_eq(check_child_exit(interrupt_scheduler, said, sizeof(said)),
                   CHILD_RETURNED);
  ck_assert_ptr_null(strstr(said, "were doing"));
}
END_TEST

static void do_not_interrupt(void) {
  interrupted_stop();
  start();
  interrupted_stop();
  if (fatal_on_interrupt) {
    _exit(1);
  }
}

START_TEST(who_ends_as_it_should_says_nothing) {
  ck_assert_int_eq(check_child_exit(do_not_interrupt, said, sizeof(said)),
                   CHILD_RETURNED);
  ck_assert_str_eq(said, "");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {the_first_signal_is_told,
                                a_lock_that_is_held_does_not_stop_it,
                                who_ends_as_it_should_says_nothing, NULL};
  return check_main("interrupted", tests);
}
