#define _GNU_SOURCE
#include "base/message.h"

#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_child.h"
#include "check_main.h"

static void expect(void (*body)(void), int exit_status, const char *said) {
  char text[16384];
  ck_assert_int_eq(check_child_exit(body, text, sizeof(text)), exit_status);
  ck_assert_str_eq(text, said);
}

static void fail_here(void) {
  msg_fail(MSG_USAGE, "k: %d: give %s", 7, "less");
}

START_TEST(fail_says_one_line_and_exits) {
  expect(fail_here, 2, "pems: k: 7: give less\n");
}
END_TEST

static void end_with_40(int status) {
  _exit(status + 40);
}

static void fail_with_end(void) {
  msg_set_end(end_with_40);
  fail_here();
}

START_TEST(end_function_gets_the_status) {
  expect(fail_with_end, 42, "pems: k: 7: give less\n");
}
END_TEST

static void end_returns(int status) {
  (void)status;
}

static void fail_with_bad_end(void) {
  msg_set_end(end_returns);
  fail_here();
}

START_TEST(an_end_function_that_returns_still_ends) {
  expect(fail_with_bad_end, 2, "pems: k: 7: give less\n");
}
END_TEST

static void end_fails(int status) {
  msg_fail(status + 1, "again");
}

static void fail_in_end(void) {
  msg_set_end(end_fails);
  fail_here();
}

START_TEST(failing_in_the_end_function_does_not_hang) {
  expect(fail_in_end, 3, "pems: k: 7: give less\n");
}
END_TEST

static bool yes(void) {
  return true;
}

static bool no(void) {
  return false;
}

static void note_said(void) {
  msg_warn("said");
}

static void fail_first(void) {
  msg_set_first(yes, note_said);
  fail_here();
}

static void fail_later(void) {
  msg_set_first(no, note_said);
  fail_here();
}

START_TEST(the_first_tells_that_its_line_is_out) {
  expect(fail_first, 2, "pems: k: 7: give less\npems: said\n");
  expect(fail_later, 2, "");
}
END_TEST

static pthread_barrier_t all_ready;

static void *fail_in_thread(void *unused) {
  (void)unused;
  pthread_barrier_wait(&all_ready);
  msg_fail(5, "from a thread");
}

static void end_slowly(int status) {
  usleep(100000); /* time for the others to fail, too */
  _exit(status);
}

static void fail_in_threads(void) {
  enum { THREADS = 16 };
  pthread_t threads[THREADS];
  msg_set_end(end_slowly);
  pthread_barrier_init(&all_ready, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], NULL, fail_in_thread, NULL);
  }
  pthread_join(threads[0], NULL);
}

START_TEST(only_the_first_of_many_threads_speaks) {
  expect(fail_in_threads, 5, "pems: from a thread\n");
}
END_TEST

static void warn(void) {
  msg_warn("disk: %s: slow", "/x");
  msg_warn("again");
  _exit(0);
}

START_TEST(warn_goes_on) {
  expect(warn, 0, "pems: disk: /x: slow\npems: again\n");
}
END_TEST

static void speak_of_the_host(void) {
  msg_warn_here("disk: full");
  msg_set_host("nodeB");
  msg_warn("rank 3: it");
  msg_warn_here("disk: %s: full", "/x");
  msg_notice("disk: slow");
  msg_fail_here(MSG_FAILED, "no memory");
}

START_TEST(of_several_hosts_each_says_what_it_lacks) {
  expect(speak_of_the_host, 1,
         "pems: disk: full\npems: rank 3: it\n"
         "pems: host nodeB: disk: /x: full\npems: host nodeB: disk: slow\n"
         "pems: host nodeB: no memory\n");
}
END_TEST

static void silent(void) {
  msg_set_speaker(false);
  msg_warn("not heard");
  fail_here();
}

static void silent_and_back(void) {
  msg_set_speaker(false);
  msg_set_speaker(true);
  fail_here();
}

START_TEST(who_is_not_the_speaker_is_silent) {
  expect(silent, 2, "");
  expect(silent_and_back, 2, "pems: k: 7: give less\n");
}
END_TEST

static void note_line(const char *line) {
  msg_warn("noted %s", line);
}

/* As in a file's name. */
static void warn_in_colour(void) {
  msg_warn("%s: \xc3\xa9~\n  a row", "\033[2J\n\t\r\b\x1f\x7f a");
  msg_notice("%s", "\033");
  msg_set_notice(note_line);
  msg_notice("%s", "\n");
  msg_fail(1, "%s", "\a");
}

START_TEST(control_characters_do_not_reach_the_terminal) {
  expect(warn_in_colour, 1,
         "pems: ?[2J?????? a: \xc3\xa9~\n  a row\npems: ?\npems: noted "
         "?\npems: ?\n");
}
END_TEST

static void fail_long(void) {
  static char word[10000];
  memset(word, 'x', sizeof(word) - 1);
  msg_fail(1, "%s", word);
}

START_TEST(a_long_line_is_cut_but_ends) {
  char text[16384];
  const int status = check_child(fail_long, text, sizeof(text));
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 1);
  const size_t n = strlen(text);
  ck_assert_uint_gt(n, 1000);
  ck_assert_uint_lt(n, 10000);
  ck_assert_int_eq(text[n - 1], '\n');
  ck_assert_ptr_eq(strchr(text, '\n'), text + n - 1);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("message");
  TCase *const t = tcase_create("message");
  tcase_set_timeout(t, 30);
  tcase_add_test(t, fail_says_one_line_and_exits);
  tcase_add_test(t, end_function_gets_the_status);
  tcase_add_test(t, an_end_function_that_returns_still_ends);
  tcase_add_test(t, failing_in_the_end_function_does_not_hang);
  tcase_add_test(t, the_first_tells_that_its_line_is_out);
  tcase_add_test(t, only_the_first_of_many_threads_speaks);
  tcase_add_test(t, warn_goes_on);
  tcase_add_test(t, of_several_hosts_each_says_what_it_lacks);
  tcase_add_test(t, who_is_not_the_speaker_is_silent);
  tcase_add_test(t, control_characters_do_not_reach_the_terminal);
  tcase_add_test(t, a_long_line_is_cut_but_ends);
  suite_add_tcase(s, t);
  return check_run(s);
}
