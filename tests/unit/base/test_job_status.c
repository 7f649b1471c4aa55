#define _GNU_SOURCE
#include "base/job_status.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
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
  const int answer = job_status_accept(listener);
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

int main(void) {
  Suite *s = suite_create("job_status");
  TCase *t = tcase_create("job_status");
  tcase_add_test(t, what_is_written_is_read);
  tcase_add_test(t, the_longest_line_fits);
  tcase_add_test(t, other_lines_are_refused);
  tcase_add_test(t, who_asks_is_answered);
  tcase_add_test(t, other_users_are_not_answered);
  suite_add_tcase(s, t);
  return check_run(s);
}
