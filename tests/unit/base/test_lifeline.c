#define _GNU_SOURCE
#include "base/lifeline.h"

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_main.h"

START_TEST(test_what_is_written_is_read) {
  struct lifeline_hello h = {.cookie = "0123456789abcdef0123456789abcdef",
                             .process = 3,
                             .of = 4,
                             .pid = 4711,
                             .job = 2661285889,
                             .host = "nodeC.example.org"},
                        got = {0};
  char line[LIFELINE_LINE];
  ck_assert_int_eq(lifeline_write(&h, line), (int)strlen(line));
  ck_assert_int_eq(lifeline_read(&got, line), 0);
  ck_assert_str_eq(got.cookie, h.cookie);
  ck_assert_str_eq(got.host, h.host);
  ck_assert_int_eq(got.process, 3);
  ck_assert_int_eq(got.of, 4);
  ck_assert_int_eq(got.pid, 4711);
  ck_assert_uint_eq(got.job, h.job);
  ck_assert(!got.begins);
  h.begins = true;
  ck_assert_int_eq(lifeline_write(&h, line), (int)strlen(line));
  ck_assert_int_eq(lifeline_read(&got, line), 0);
  ck_assert(got.begins);
  ck_assert_str_eq(got.host, h.host);
}
END_TEST

static int connection_to(int listener) {
  struct sockaddr_in a;
  socklen_t n = sizeof(a);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&a, &n), 0);
  ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, n), 0);
  return fd;
}

START_TEST(test_what_is_handed_on_is_taken_back) {
  struct sockaddr_in a;
  socklen_t n = sizeof(a);
  char places[32];
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  ck_assert_int_eq(listen(listener, 2), 0);
  ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&a, &n), 0);
  snprintf(places, sizeof(places), "%d,127.0.0.1", ntohs(a.sin_port));
  const int fd = connection_to(listener);
  ck_assert_int_eq(lifeline_take_back(places), -1);
  ck_assert_int_eq(lifeline_hand_on(fd), 0);
  const int kept = atoi(getenv(LIFELINE_BEGUN_VARIABLE));
  ck_assert_int_eq(fcntl(kept, F_GETFD), 0);
  ck_assert_int_eq(lifeline_take_back(places), kept);
  ck_assert_int_eq(fcntl(kept, F_GETFD), FD_CLOEXEC);
  ck_assert_ptr_null(getenv(LIFELINE_BEGUN_VARIABLE));
  /* The number is another file's now. */
  ck_assert_int_eq(lifeline_hand_on(fd), 0);
  ck_assert_int_eq(dup2(listener, atoi(getenv(LIFELINE_BEGUN_VARIABLE))),
                   atoi(getenv(LIFELINE_BEGUN_VARIABLE)));
  ck_assert_int_eq(lifeline_take_back(places), -1);
  close(fd);
  close(listener);
}
END_TEST

START_TEST(test_the_longest_fits) {
  struct lifeline_hello h = {.process = 65534, .of = 65535, .pid = 1L << 22};
  char line[LIFELINE_LINE];
  memset(h.cookie, 'a', LIFELINE_COOKIE);
  memset(h.host, 'h', LIFELINE_HOST - 1);
  h.job = -1ul;
  const int n = lifeline_write(&h, line);
  ck_assert_int_lt(n, LIFELINE_LINE);
  ck_assert_int_eq(line[n - 1], '\n');
}
END_TEST

START_TEST(test_other_lines_are_refused) {
  static const char *const lines[] = {
      "",          "GET / HTTP/1.1\r\n", "cookie 4 4 1 1 a\n", "c -1 4 1 1 a\n",
      "c 0 4 1 1", "c 0 4 x 1 a\n"};
  for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
    struct lifeline_hello h;
    ck_assert_msg(lifeline_read(&h, lines[i]) == -1, "%s", lines[i]);
  }
}
END_TEST

START_TEST(test_questions) {
  const char *const cookie = "0123456789abcdef0123456789abcdef";
  struct lifeline_hello h;
  char line[LIFELINE_LINE];
  lifeline_write_question(cookie, line);
  ck_assert_int_eq(line[strlen(line) - 1], '\n');
  ck_assert(lifeline_is_question(line, cookie));
  ck_assert_int_eq(lifeline_read(&h, line), -1);
  ck_assert(!lifeline_is_question(line, "0123456789abcdef0123456789abcdee"));
  ck_assert(
      !lifeline_is_question("0123456789abcdef0123456789abcdef\n", cookie));
  ck_assert(!lifeline_is_question(" ?\n", cookie));
  ck_assert(!lifeline_is_question("", cookie));
}
END_TEST

START_TEST(test_the_kernel_watches) {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  int on = 0, idle = 0, interval = 0, probes = 0;
  socklen_t n = sizeof(on);
  ck_assert_int_eq(lifeline_keep(s), 0);
  getsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &on, &n);
  getsockopt(s, IPPROTO_TCP, TCP_KEEPIDLE, &idle, &n);
  getsockopt(s, IPPROTO_TCP, TCP_KEEPINTVL, &interval, &n);
  getsockopt(s, IPPROTO_TCP, TCP_KEEPCNT, &probes, &n);
  ck_assert_int_ne(on, 0);
  ck_assert_int_eq(idle + interval * probes, LIFELINE_SECONDS);
  close(s);
  ck_assert_int_eq(lifeline_keep(s), -1);
}
END_TEST

/* Listens at 127.0.0.1 or, if `all`, at all addresses of both families. */
static int listen_at(bool all, struct sockaddr_in *at) {
  const struct sockaddr_in6 six = {.sin6_family = AF_INET6};
  const int fd = socket(all ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in6 got;
  socklen_t n = sizeof(got);
  *at = (struct sockaddr_in){.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (fd < 0 ||
      bind(fd, all ? (const struct sockaddr *)&six : (struct sockaddr *)at,
           all ? sizeof(six) : sizeof(*at)) ||
      listen(fd, 1) || getsockname(fd, (struct sockaddr *)&got, &n)) {
    return -1; /* no IPv6 here */
  }
  at->sin_port = got.sin6_port; /* both families have it in the same place */
  return fd;
}

static bool is_strangers(const struct sockaddr_in *at) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  ck_assert_int_eq(connect(fd, (const struct sockaddr *)at, sizeof(*at)), 0);
  const bool is = lifeline_is_strangers(fd);
  close(fd);
  return is;
}

static _Noreturn void listen_as_another(bool all, int told) {
  struct sockaddr_in at;
  if (setresuid(65534, 65534, 65534) == 0 && listen_at(all, &at) >= 0 &&
      write(told, &at, sizeof(at)) == sizeof(at)) {
    alarm(60);
    pause();
  }
  _exit(1);
}

static void expect_another(bool all) {
  struct sockaddr_in at;
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    listen_as_another(all, ends[1]);
  }
  close(ends[1]);
  ck_assert_int_eq(read(ends[0], &at, sizeof(at)), sizeof(at));
  ck_assert(is_strangers(&at));
  kill(child, SIGKILL);
  ck_assert_int_eq(waitpid(child, NULL, 0), child);
  close(ends[0]);
}

START_TEST(test_a_port_of_another_user_is_known) {
  for (int all = 0; all < 2; all++) {
    struct sockaddr_in at;
    const int own = listen_at(all, &at);
    if (own >= 0) {
      ck_assert(!is_strangers(&at));
      close(own);
    }
    if (geteuid() != 0 || own < 0) {
      printf("only root can be another: not tested\n");
    } else {
      expect_another(all);
    }
  }
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("lifeline");
  TCase *const c = tcase_create("lifeline");
  tcase_add_test(c, test_what_is_written_is_read);
  tcase_add_test(c, test_what_is_handed_on_is_taken_back);
  tcase_add_test(c, test_the_longest_fits);
  tcase_add_test(c, test_other_lines_are_refused);
  tcase_add_test(c, test_questions);
  tcase_add_test(c, test_the_kernel_watches);
  tcase_add_test(c, test_a_port_of_another_user_is_known);
  suite_add_tcase(suite, c);
  return check_run(suite);
}
