#define _GNU_SOURCE
#include "base/questions.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/job_status.h"
#include "check_main.h"

static struct questions q;

/* A question from elsewhere: the asker's end. */
static int ask(long long now, bool taken) {
  int pair[2];
  ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair),
                   0);
  ck_assert_int_eq(questions_adopt(&q, pair[1], now), taken);
  return pair[0];
}

/* All that has come; then -1: more may come, or 0: that was all. */
static ssize_t hear(int fd, char *text, size_t size) {
  memset(text, 0, size);
  ssize_t n = 0, got;
  while ((got = read(fd, text + n, size - 1 - (size_t)n)) > 0) {
    n += got;
  }
  return got;
}

START_TEST(all_have_answered) {
  char text[64];
  q = (struct questions){.listener = -1, .asker = -1};
  ck_assert_int_eq(questions_left(&q, 5), -1);
  const int fd = ask(5, true);
  q.awaited = 2;
  questions_answer(&q, "one\n");
  questions_settle(&q, 6);
  ck_assert_int_eq(hear(fd, text, sizeof(text)), -1);
  ck_assert_str_eq(text, "one\n");
  questions_answer(&q, "two\n");
  ck_assert(!questions_late(&q, 1000000)); /* nobody is awaited */
  questions_settle(&q, 6);
  ck_assert_int_eq(hear(fd, text, sizeof(text)), 0);
  ck_assert_str_eq(text, "two\n");
  ck_assert_int_eq(q.asker, -1);
  questions_answer(&q, "late\n"); /* to nobody */
  close(fd);
}
END_TEST

START_TEST(time_is_up) {
  char text[64];
  q = (struct questions){.listener = -1, .asker = -1};
  ck_assert(!questions_late(&q, 1000000));
  const int fd = ask(100, true);
  q.awaited = 1;
  ck_assert(!questions_late(&q, 100 + QUESTIONS_PATIENCE_MS - 1));
  ck_assert_int_eq(questions_left(&q, 100 + QUESTIONS_PATIENCE_MS - 1), 1);
  questions_settle(&q, 100 + QUESTIONS_PATIENCE_MS - 1);
  ck_assert_int_ge(q.asker, 0);
  ck_assert(questions_late(&q, 100 + QUESTIONS_PATIENCE_MS));
  questions_settle(&q, 100 + QUESTIONS_PATIENCE_MS);
  ck_assert_int_eq(hear(fd, text, sizeof(text)), 0);
  close(fd);
}
END_TEST

START_TEST(one_at_a_time) {
  char text[64];
  q = (struct questions){.listener = -1, .asker = -1};
  const int first = ask(0, true), second = ask(0, false);
  ck_assert_int_eq(hear(second, text, sizeof(text)), 0); /* turned away */
  ck_assert_int_eq(hear(first, text, sizeof(text)), -1);
  ck_assert(!questions_take(&q, 0));
  questions_close(&q);
  ck_assert_int_eq(hear(first, text, sizeof(text)), 0);
  close(first);
  close(second);
}
END_TEST

START_TEST(by_the_socket_of_this_host) {
  char text[64];
  questions_open(&q);
  ck_assert_int_ge(q.listener, 0);
  const int fd = job_status_ask(true, getpid());
  ck_assert_int_ge(fd, 0);
  ck_assert(questions_take(&q, 0));
  q.awaited = 1;
  questions_answer(&q, "x\n");
  questions_settle(&q, 0);
  ck_assert_int_eq(read(fd, text, sizeof(text)), 2);
  questions_close(&q);
  close(fd);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {all_have_answered, time_is_up, one_at_a_time,
                                by_the_socket_of_this_host, NULL};
  return check_main("questions", tests);
}
