#define _GNU_SOURCE
#include "os/lock.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "check_child.h"
#include "check_main.h"
#include "os/clock.h"

static struct lock outer = LOCK_INITIALIZER(LOCK_RUN_QUEUE);
static struct lock inner = LOCK_ADAPTIVE_INITIALIZER(LOCK_TRACE);
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turns;

START_TEST(locks_in_order_are_taken) {
  for (int i = 0; i < 3; i++) {
    lock_take(&outer);
    lock_take(&inner);
    lock_give(i % 2 ? &outer : &inner);
    lock_give(i % 2 ? &inner : &outer);
  }
}
END_TEST

static void *add(void *arg) {
  for (int i = 0; i < 10000; i++) {
    lock_take(&inner);
    turns++;
    lock_give(&inner);
  }
  return arg;
}

START_TEST(one_thread_at_a_time_holds_it) {
  pthread_t thread[4];
  turns = 0;
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, add, NULL), 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(thread[i], NULL);
  }
  ck_assert_int_eq(turns, 40000);
}
END_TEST

static void *answer(void *arg) {
  lock_take(&inner);
  turns = 1;
  pthread_cond_signal(&changed);
  lock_give(&inner);
  return arg;
}

START_TEST(a_wait_gives_it_to_others) {
  pthread_t thread;
  turns = 0;
  lock_take(&inner);
  ck_assert_int_eq(pthread_create(&thread, NULL, answer, NULL), 0);
  while (!turns) {
    lock_wait(&changed, &inner);
  }
  lock_give(&inner);
  pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_wait_ends_in_time) {
  const struct timespec until = clock_after(CLOCK_REALTIME, 1000000);
  lock_take(&inner);
  int error;
  while ((error = lock_wait_until(&changed, &inner, &until)) == 0) {
  }
  ck_assert_int_eq(error, ETIMEDOUT);
  lock_give(&inner);
}
END_TEST

START_TEST(one_made_again_is_open) {
  struct lock l;
  for (int i = 0; i < 2; i++) {
    lock_init(&l, LOCK_AIO);
    lock_take(&l);
    lock_give(&l);
    lock_destroy(&l);
  }
}
END_TEST

#ifdef PEMS_DEBUG

static struct lock same[2] = {LOCK_INITIALIZER(LOCK_AIO),
                              LOCK_INITIALIZER(LOCK_AIO)};

static void out_of_order(void) {
  lock_take(&inner);
  lock_take(&outer);
}

static void twice(void) {
  lock_take(&inner);
  lock_take(&inner);
}

static void by_addresses(void) {
  lock_take(&same[0]);
  lock_take(&same[1]);
  lock_give(&same[0]);
  lock_take(&same[0]);
}

static void not_held(void) {
  lock_give(&inner);
}

static void waiting_with_another(void) {
  lock_take(&outer);
  lock_take(&inner);
  lock_wait(&changed, &inner);
}

static void waiting_without(void) {
  lock_wait(&changed, &inner);
}

static void destroyed(void) {
  lock_take(&inner);
  lock_destroy(&inner);
}

static void unranked(void) {
  static struct lock none;
  lock_take(&none);
}

static void forbidden(void) {
  lock_take(&outer);
  lock_forbid(LOCK_TRACE);
  lock_forbid(LOCK_RUN_QUEUE);
}

static const struct {
  void (*f)(void);
  const char *says;
} mistakes[] = {
    {out_of_order, "taken out of order: RUN_QUEUE"},
    {twice, "taken twice: TRACE"},
    {by_addresses, "taken out of the order of addresses: AIO"},
    {not_held, "given by who does not hold it: TRACE"},
    {waiting_with_another, "waited with while another is held: TRACE"},
    {waiting_without, "waited with by who does not hold it: TRACE"},
    {destroyed, "destroyed while it is held: TRACE"},
    {forbidden, "held where it is forbidden: RUN_QUEUE"},
    {unranked, "not initialized: UNRANKED"},
};
enum { MISTAKES = sizeof(mistakes) / sizeof(mistakes[0]) };

/* Each ends the process, having named both places. */
START_TEST(a_mistake_is_found) {
  char said[600];
  const int status = check_child(mistakes[_i].f, said, sizeof(said));
  ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  ck_assert_msg(strstr(said, mistakes[_i].says), "%s", said);
  ck_assert_msg(strstr(said, "test_lock.c:"), "%s", said);
}
END_TEST

#endif

int main(void) {
  Suite *const suite = suite_create("lock");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_test(all, locks_in_order_are_taken);
  tcase_add_test(all, one_thread_at_a_time_holds_it);
  tcase_add_test(all, a_wait_gives_it_to_others);
  tcase_add_test(all, a_wait_ends_in_time);
  tcase_add_test(all, one_made_again_is_open);
#ifdef PEMS_DEBUG
  tcase_add_loop_test(all, a_mistake_is_found, 0, MISTAKES);
#else
  puts("skipped: the order of locks: configure with --enable-debug");
#endif
  suite_add_tcase(suite, all);
  return check_run(suite);
}
