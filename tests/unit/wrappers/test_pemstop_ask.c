/* Answers that pemstop gets from whoever has a process's name. */
#define _GNU_SOURCE
#include "wrappers/pemstop_ask.h"

#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/job_status.h"
#include "base/lifeline.h"
#include "check_main.h"

/* Of what is sent to the asker: `first` once, then `again`, each `ms`, until
   the asker has gone. Writes to `told` how many bytes the asker took. */
struct speaker {
  const char *first, *again;
  int ms;
};

static void speak(const struct speaker *s, int listener, int told) {
  struct pollfd p = {.fd = listener, .events = POLLIN};
  size_t all = 0;
  poll(&p, 1, -1);
  const int fd = accept(listener, NULL, NULL);
  const char *what = s->first;
  ssize_t n;
  while ((n = send(fd, what, strlen(what), MSG_NOSIGNAL)) > 0) {
    all += (size_t)n;
    what = s->again;
    poll(NULL, 0, s->ms);
  }
  _exit(write(told, &all, sizeof(all)) == sizeof(all) ? 0 : 1);
}

/* Looks at a process that speaks so: how many bytes are taken, and whether
   there is an answer. */
static bool look(const struct speaker *s, struct view *v, size_t *taken) {
  int ends[2], status;
  char ready = 'r';
  int told[2];
  ck_assert_int_eq(pipe(ends), 0);
  ck_assert_int_eq(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);
    const int listener = job_status_listen(false);
    if (listener >= 0 && write(ends[1], &ready, 1) == 1) {
      speak(s, listener, told[1]);
    }
    _exit(1);
  }
  ck_assert_int_eq(read(ends[0], &ready, 1), 1);
  const struct pemstop_job job = {false, child};
  const bool found = pemstop_look(&job, v);
  ck_assert_int_eq(read(told[0], taken, sizeof(*taken)), sizeof(*taken));
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  for (int i = 0; i < 2; i++) {
    close(ends[i]);
    close(told[i]);
  }
  return found;
}

/* Sockets hold some of what is not taken. */
enum { IN_SOCKETS = 4 << 20 };

START_TEST(a_flood_is_not_taken) {
  static char block[65536];
  struct view v;
  size_t taken;
  memset(block, 'A', sizeof(block) - 1);
  ck_assert(!look(&(struct speaker){block, block, 0}, &v, &taken));
  ck_assert_uint_lt(taken, IN_SOCKETS);
  view_free(&v);
}
END_TEST

START_TEST(nor_one_of_right_lines) {
  struct view v;
  size_t taken;
  const char *const line = "pems-status 1 process=0 of=1 pid=7\n";
  ck_assert(look(&(struct speaker){line, line, 0}, &v, &taken));
  ck_assert_uint_eq(v.process[0].pid, 7);
  ck_assert_uint_lt(taken, IN_SOCKETS);
  view_free(&v);
}
END_TEST

/* The end of such an answer never comes. */
START_TEST(who_is_slow_is_left) {
  struct view v;
  size_t taken;
  ck_assert(!look(&(struct speaker){"x", "x", 100}, &v, &taken));
  view_free(&v);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_flood_is_not_taken, nor_one_of_right_lines,
                                who_is_slow_is_left, NULL};
  return check_main("pemstop_ask", tests);
}
