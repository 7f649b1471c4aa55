/* A process that has lost who started it ends, also where that was before it
   was watched. */
#include "mpi_below/watch.h"

#include "check_child.h"
#include "check_main.h"

#include "base/lifeline.h"
#include "base/message.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECOND = 1000000, ENDED_WELL = 7 };

/* When the process ends that started the one that is watched. */
static enum { BEFORE, AFTER, LATER } starter_ends;

/* Until nothing is left of it. */
static void end_starter(pid_t starter) {
  while (kill(starter, SIGKILL) == 0) {
    usleep(1000);
  }
}

/* Of no pemsrun: nobody answers at that port. */
_Noreturn static void be_watched(void) {
  const pid_t starter = getppid();
  watch_note_starter();
  if (starter_ends == BEFORE) {
    end_starter(starter);
  }
  setenv(LIFELINE_VARIABLE, "cookie,1,127.0.0.1", 1);
  watch_start();
  if (starter_ends == AFTER) {
    end_starter(starter);
  }
  usleep((starter_ends == LATER ? 2 : 15) * SECOND);
  watch_end();
  _exit(ENDED_WELL);
}

_Noreturn static void start(void) {
  int status;
  const pid_t watched = fork();
  if (watched == 0) {
    be_watched();
  }
  waitpid(watched, &status, 0);
  _exit(WEXITSTATUS(status));
}

/* Exits as the process that is watched does, which comes here when its starter
   is killed. */
static void look_on(void) {
  int status, last = -1;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (fork() == 0) {
    start();
  }
  while (wait(&status) > 0) {
    last = WIFEXITED(status) ? WEXITSTATUS(status) : last;
  }
  _exit(last);
}

static int watched_exit(void) {
  char said[200];
  return check_child_exit(look_on, said, sizeof(said));
}

START_TEST(it_ends_with_its_starter) {
  starter_ends = AFTER;
  ck_assert_int_eq(watched_exit(), MSG_FAILED);
}
END_TEST

START_TEST(a_starter_that_ended_before_is_missed) {
  starter_ends = BEFORE;
  ck_assert_int_eq(watched_exit(), MSG_FAILED);
}
END_TEST

START_TEST(it_goes_on_with_its_starter) {
  starter_ends = LATER;
  ck_assert_int_eq(watched_exit(), ENDED_WELL);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {it_ends_with_its_starter,
                                a_starter_that_ended_before_is_missed,
                                it_goes_on_with_its_starter, NULL};
  return check_main("watch", tests);
}
