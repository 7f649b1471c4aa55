/* pemsrun's port, at which anybody may connect. */
#define _GNU_SOURCE
#include "wrappers/monitor.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lifeline.h"
#include "check_main.h"

static struct monitor m;

/* A few numbers above those that are in use: so many may come. */
enum { MORE = 8, STRANGERS = 3 * MORE };

static void open_monitor(void) {
  struct pems_error error;
  ck_assert_msg(monitor_open(&m, true, &error) == 0, "%s", error.text);
}

static int connect_to(const struct monitor *to) {
  struct sockaddr_in a;
  socklen_t n = sizeof(a);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  ck_assert_int_eq(getsockname(to->listener, (struct sockaddr *)&a, &n), 0);
  ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, n), 0);
  return fd;
}

/* Of process 0, or process 1, which only begins; both are on this host. */
static void introduce_as(int fd, bool begins, pid_t pid) {
  struct lifeline_hello h = {
      .process = begins, .of = 2, .pid = pid, .begins = begins};
  char line[LIFELINE_LINE];
  ck_assert_int_eq(gethostname(h.host, sizeof(h.host) - 1), 0);
  strcpy(h.cookie, m.cookie);
  const int n = lifeline_write(&h, line);
  ck_assert_int_eq(send(fd, line, (size_t)n, 0), n);
}

static void introduce(int fd) {
  introduce_as(fd, false, 7);
}

static void limit(rlim_t most) {
  struct rlimit r;
  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &r), 0);
  r.rlim_cur = most ? most : r.rlim_max;
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &r), 0);
}

/* Of this process: the least number that is free. */
static int next_number(void) {
  const int fd = dup(STDIN_FILENO);
  close(fd);
  return fd;
}

/* Serves until nobody waits at the port: false if somebody does for ever. */
static bool all_are_taken(void) {
  struct pollfd p = {.fd = m.listener, .events = POLLIN};
  for (int i = 0; i < 1000; i++) {
    monitor_drain(&m);
    if (poll(&p, 1, 0) == 0) {
      return true;
    }
  }
  return false;
}

/* Has the monitor closed the connection? */
static bool is_closed(int fd) {
  char c;
  const ssize_t n = recv(fd, &c, 1, MSG_DONTWAIT);
  return n == 0 || (n < 0 && errno == ECONNRESET);
}

static bool is_welcome(int fd) {
  char c = 0;
  return recv(fd, &c, 1, MSG_DONTWAIT) == 1 && c == LIFELINE_WELCOME;
}

START_TEST(strangers_do_not_keep_a_process_out) {
  int stranger[STRANGERS];
  open_monitor();
  for (int i = 0; i < STRANGERS; i++) {
    stranger[i] = connect_to(&m);
  }
  const int process = connect_to(&m);
  limit((rlim_t)next_number() + MORE);
  introduce(process);
  ck_assert(all_are_taken());
  monitor_drain(&m); /* hears it */
  monitor_serve(&m, -1, 100);
  ck_assert_int_eq(m.joined, 1);
  ck_assert(is_welcome(process));
  ck_assert_int_eq(m.turned_away, 0);
  ck_assert(is_closed(stranger[0]));
  limit(0);
  monitor_close(&m, 0);
}
END_TEST

/* Nobody can go: those that are there are the job's. */
START_TEST(without_descriptors_processes_are_turned_away) {
  int process[2 * MORE];
  open_monitor();
  for (int i = 0; i < 2 * MORE; i++) {
    process[i] = connect_to(&m);
    introduce(process[i]);
  }
  limit((rlim_t)next_number() + MORE);
  for (int i = 0; i < 100 && m.joined + m.turned_away < 2 * MORE; i++) {
    monitor_serve(&m, -1, 10);
  }
  ck_assert_int_gt(m.joined, 0);
  ck_assert_int_gt(m.turned_away, 0);
  ck_assert_int_eq(m.joined + m.turned_away, 2 * MORE);
  ck_assert(is_welcome(process[0]));
  ck_assert(is_closed(process[2 * MORE - 1]));
  limit(0);
  monitor_close(&m, 0);
}
END_TEST

START_TEST(who_does_not_say_the_secret_goes) {
  open_monitor();
  const int silent = connect_to(&m), wrong = connect_to(&m);
  ck_assert_int_eq(send(wrong, "GET /\n", 6, 0), 6);
  /* The connection is closed while nothing else happens. */
  struct pollfd p = {.fd = silent, .events = POLLIN};
  for (int i = 0; i < 1000 && poll(&p, 1, 0) == 0; i++) {
    monitor_serve(&m, silent, 20000);
  }
  ck_assert(is_closed(silent));
  ck_assert(is_closed(wrong));
  ck_assert_int_eq(m.joined, 0);
  limit(0);
  monitor_close(&m, 0);
}
END_TEST

/* A number that no process has any more. */
static pid_t ended_process(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(0);
  }
  ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
  return pid;
}

/* Process 1, as `pid`, ends before it has come to MPI, in which process 0 may
   be. */
static void lose_beginner(pid_t pid, bool joined) {
  open_monitor();
  const int process = connect_to(&m), beginner = connect_to(&m);
  introduce_as(beginner, true, pid);
  if (joined) {
    introduce(process);
  }
  ck_assert(all_are_taken());
  monitor_serve(&m, -1, 100);
  ck_assert(is_welcome(beginner));
  ck_assert_int_eq(m.joined, joined);
  close(beginner);
  monitor_serve(&m, -1, 3000);
  m.say_at = 0; /* here nobody reads it */
}

START_TEST(others_do_not_wait_for_one_that_has_ended) {
  lose_beginner(ended_process(), true);
  ck_assert_int_eq(m.state, MONITOR_ABSENT);
  ck_assert(m.waits);
  monitor_close(&m, 0);
}
END_TEST

START_TEST(one_that_has_closed_all_may_still_come) {
  lose_beginner(getpid(), true);
  ck_assert_int_eq(m.state, MONITOR_RUNS);
  monitor_close(&m, 0);
}
END_TEST

START_TEST(where_nobody_waits_all_may_end) {
  lose_beginner(ended_process(), false);
  ck_assert_int_eq(m.state, MONITOR_RUNS);
  monitor_close(&m, 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {strangers_do_not_keep_a_process_out,
                                without_descriptors_processes_are_turned_away,
                                who_does_not_say_the_secret_goes,
                                others_do_not_wait_for_one_that_has_ended,
                                one_that_has_closed_all_may_still_come,
                                where_nobody_waits_all_may_end,
                                NULL};
  return check_main("monitor", tests);
}
