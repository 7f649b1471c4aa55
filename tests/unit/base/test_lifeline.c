#include "base/lifeline.h"

#include <check.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

int main(void) {
  Suite *const suite = suite_create("lifeline");
  TCase *const c = tcase_create("lifeline");
  tcase_add_test(c, test_what_is_written_is_read);
  tcase_add_test(c, test_the_longest_fits);
  tcase_add_test(c, test_other_lines_are_refused);
  tcase_add_test(c, test_questions);
  tcase_add_test(c, test_the_kernel_watches);
  suite_add_tcase(suite, c);
  return check_run(suite);
}
