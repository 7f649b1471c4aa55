#define _GNU_SOURCE
#include "base/job_status.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_main.h"

START_TEST(what_is_written_is_read) {
  char line[JOB_STATUS_LINE];
  struct job_status back, s = {.process = 3,
                               .of = 4,
                               .v = 1 << 30,
                               .resident = UINT64_MAX,
                               .sent = 7,
                               .host = "node one",
                               .program = "a b"};
  const int n = job_status_write(&s, line);
  ck_assert_int_eq(n, (int)strlen(line));
  ck_assert_int_eq(line[n - 1], '\n');
  ck_assert_int_eq(job_status_read(&back, line), 0);
  ck_assert_str_eq(back.host, "node_one");
  ck_assert_str_eq(back.program, "a_b");
  strcpy(back.host, s.host);
  strcpy(back.program, s.program);
  ck_assert_int_eq(memcmp(&s, &back, sizeof(s)), 0);
}
END_TEST

START_TEST(the_longest_line_fits) {
  char line[JOB_STATUS_LINE];
  struct job_status back, s;
  memset(&s, 0xff, sizeof(s));
  memset(s.host, 'h', sizeof(s.host) - 1);
  memset(s.program, 'p', sizeof(s.program) - 1);
  s.host[sizeof(s.host) - 1] = s.program[sizeof(s.program) - 1] = '\0';
  ck_assert_int_lt(job_status_write(&s, line), JOB_STATUS_LINE);
  ck_assert_int_eq(job_status_read(&back, line), 0);
  ck_assert_int_eq(memcmp(&s, &back, sizeof(s)), 0);
}
END_TEST

START_TEST(other_lines_are_refused) {
  struct job_status s;
  ck_assert_int_eq(job_status_read(&s, ""), -1);
  ck_assert_int_eq(job_status_read(&s, "pems-status 2 n=1"), -1);
  ck_assert_int_eq(job_status_read(&s, "pems-status 1 what n= x=y n"), 0);
  ck_assert_uint_eq(s.n, 0);
}
END_TEST

START_TEST(what_is_read_may_be_printed) {
  struct job_status s;
  ck_assert_int_eq(
      job_status_read(&s, "pems-status 1 host=\033[31mE program=a\tb\177\n"),
      0);
  ck_assert_str_eq(s.host, "?[31mE");
  ck_assert_str_eq(s.program, "a?b?");
}
END_TEST

/* Passes over those who connected only to see whether somebody listens. */
static int accept_last(int listener) {
  int last = -1;
  for (int fd; (fd = job_status_accept(listener)) >= 0; last = fd) {
    close(last);
  }
  return last;
}

START_TEST(who_asks_is_answered) {
  const int listener = job_status_listen(false);
  pid_t pids[64];
  bool found = false;
  ck_assert_int_ge(listener, 0);
  ck_assert_int_eq(job_status_accept(listener), -1); /* nobody asks */
  const int n = job_status_find(false, pids, 64);
  for (int i = 0; i < n; i++) {
    found = found || pids[i] == getpid();
  }
  ck_assert(found);
  const int fd = job_status_ask(false, getpid());
  ck_assert_int_ge(fd, 0);
  const int answer = accept_last(listener);
  ck_assert_int_ge(answer, 0);
  ck_assert_int_eq(write(answer, "x", 1), 1);
  char c;
  ck_assert_int_eq(read(fd, &c, 1), 1);
  close(fd);
  close(answer);
  close(listener);
  ck_assert_int_eq(job_status_ask(false, getpid()), -1); /* nothing is left */
  ck_assert_int_eq(job_status_ask(true, getpid()), -1);
}
END_TEST

/* Another user's question is not answered; to be tried by root only. */
START_TEST(other_users_are_not_answered) {
  if (geteuid() != 0) {
    printf("only root can ask as another: not tested\n");
    return;
  }
  const int listener = job_status_listen(false);
  const pid_t own = getpid(), child = fork();
  if (child == 0) {
    char c;
    if (setresuid(0, 65534, 65534) != 0) {
      _exit(3);
    }
    /* It looks for a socket of its own user's by that name. */
    _exit(job_status_ask(false, own) < 0 || read(0, &c, 0) != 0 ? 0 : 1);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  close(listener);
}
END_TEST

/* Takes the name of a process of root's as another user, and accepts nobody. */
static void squat(pid_t pid, int ready) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  const int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1,
                         "pems-process.0.%ld", (long)pid);
  const socklen_t size =
      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
  if (setresuid(65534, 65534, 65534) == 0 &&
      bind(fd, (struct sockaddr *)&a, size) == 0 && listen(fd, 0) == 0 &&
      write(ready, "r", 1) == 1) {
    alarm(60);
    pause();
  }
  _exit(1);
}

START_TEST(another_users_socket_is_not_asked) {
  int ends[2], found = 0;
  char ready;
  pid_t pids[64];
  if (geteuid() != 0) {
    printf("only root can be another: not tested\n");
    return;
  }
  ck_assert_int_eq(pipe(ends), 0);
  const pid_t own = getpid(), child = fork();
  if (child == 0) {
    squat(own, ends[1]);
  }
  close(ends[1]);
  ck_assert_int_eq(read(ends[0], &ready, 1), 1);
  for (int i = 0; i < 3; i++) { /* the queue is full soon */
    ck_assert_int_eq(job_status_ask(false, own), -1);
    ck_assert(errno == EPERM || errno == EAGAIN);
  }
  const int n = job_status_find(false, pids, 64);
  for (int i = 0; i < n; i++) {
    found += pids[i] == own;
  }
  ck_assert_int_eq(found, 0);
  kill(child, SIGKILL);
  ck_assert_int_eq(waitpid(child, NULL, 0), child);
  close(ends[0]);
}
END_TEST

int main(void) {
  Suite *s = suite_create("job_status");
  TCase *t = tcase_create("job_status");
  tcase_add_test(t, what_is_written_is_read);
  tcase_add_test(t, the_longest_line_fits);
  tcase_add_test(t, other_lines_are_refused);
  tcase_add_test(t, what_is_read_may_be_printed);
  tcase_add_test(t, who_asks_is_answered);
  tcase_add_test(t, other_users_are_not_answered);
  tcase_add_test(t, another_users_socket_is_not_asked);
  suite_add_tcase(s, t);
  return check_run(s);
}
