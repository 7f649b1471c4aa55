/* The last resort: a process that is to end does, whatever it does itself, and
   not before. */
#define _GNU_SOURCE
#include "base/stop.h"

#include "check_main.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* How a child ends that does this. */
static int status_of(void (*run)(void)) {
  int status;
  const pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    run();
    _exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  return status;
}

static _Noreturn void wait_for_ever(void) {
  for (;;) {
    pause();
  }
}

static void block_all_and_wait(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  stop_after(1);
  wait_for_ever();
}

START_TEST(nothing_keeps_it_from_ending) {
  const int status = status_of(block_all_and_wait);
  ck_assert(WIFSIGNALED(status));
  ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
END_TEST

static volatile sig_atomic_t alarms;

static void on_alarm(int number) {
  (void)number;
  alarms++;
}

static void count_alarms(void) {
  const struct itimerval often = {{0, 2000}, {0, 2000}};
  signal(SIGALRM, on_alarm);
  setitimer(ITIMER_REAL, &often, NULL);
  stop_after(3600);
  while (alarms < 20) {
    pause();
  }
}

START_TEST(timers_of_the_program_go_on) {
  const int status = status_of(count_alarms);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

static void end_sooner(void) {
  stop_after(3600);
  stop_after(1);
  wait_for_ever();
}

static void end_later(void) {
  stop_after(1);
  stop_after(3600);
  sleep(3);
}

/* Its child has no timer yet. */
static void end_in_child(void) {
  stop_after(3600);
  const int status = status_of(end_sooner);
  _exit(WIFSIGNALED(status) ? 3 : 4);
}

START_TEST(the_last_call_counts) {
  ck_assert(WIFSIGNALED(status_of(end_sooner)));
  ck_assert(WIFEXITED(status_of(end_later)));
  const int status = status_of(end_in_child);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 3);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("stop");
  TCase *const t = tcase_create("stop");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, nothing_keeps_it_from_ending);
  tcase_add_test(t, timers_of_the_program_go_on);
  tcase_add_test(t, the_last_call_counts);
  suite_add_tcase(s, t);
  return check_run(s);
}
