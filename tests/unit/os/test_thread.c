#define _GNU_SOURCE
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/thread.h"

#include "check_main.h"

struct seen {
  sigset_t blocked;
  size_t stack;
};

static void *look(void *arg) {
  struct seen *const seen = arg;
  pthread_attr_t attr;
  pthread_sigmask(SIG_BLOCK, NULL, &seen->blocked);
  ck_assert_int_eq(pthread_getattr_np(pthread_self(), &attr), 0);
  pthread_attr_getstacksize(&attr, &seen->stack);
  pthread_attr_destroy(&attr);
  return NULL;
}

static struct seen start_and_look(const struct thread_options *options) {
  struct seen seen;
  pthread_t thread;
  ck_assert_int_eq(thread_start(&thread, look, &seen, options), 0);
  pthread_join(thread, NULL);
  return seen;
}

static void assert_open(void) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  ck_assert(!sigismember(&now, SIGUSR1));
  ck_assert(!sigismember(&now, SIGSEGV));
}

START_TEST(blocks_signals_of_the_new_thread_only) {
  const struct seen seen = start_and_look(NULL);
  ck_assert(sigismember(&seen.blocked, SIGUSR1));
  ck_assert(sigismember(&seen.blocked, SIGTERM));
  ck_assert(sigismember(&seen.blocked, SIGSEGV));
  assert_open();
}
END_TEST

START_TEST(lets_page_faults_through_where_asked) {
  const struct seen seen =
      start_and_look(&(struct thread_options){.faults = true});
  ck_assert(sigismember(&seen.blocked, SIGUSR1));
  ck_assert(!sigismember(&seen.blocked, SIGSEGV));
  ck_assert(!sigismember(&seen.blocked, SIGBUS));
}
END_TEST

START_TEST(has_the_stack_that_is_asked_for) {
  enum { STACK = 256 << 10 };
  const struct seen seen =
      start_and_look(&(struct thread_options){.stack = STACK});
  ck_assert_uint_ge(seen.stack, STACK);
  ck_assert_uint_lt(seen.stack, 2 * STACK);
}
END_TEST

/* Below the least that the C library takes, the stack is the default one. */
START_TEST(a_stack_that_is_too_small_is_not_an_error) {
  const struct seen seen = start_and_look(&(struct thread_options){.stack = 1});
  ck_assert_uint_gt(seen.stack, 16384);
}
END_TEST

static pthread_mutex_t hold = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_it(void *arg) {
  pthread_mutex_lock(&hold);
  pthread_mutex_unlock(&hold);
  return arg;
}

START_TEST(has_its_name) {
  pthread_t thread;
  char name[16];
  pthread_mutex_lock(&hold);
  ck_assert_int_eq(
      thread_start(&thread, wait_for_it, NULL,
                   &(struct thread_options){.name = "pems-fifteen-ch"}),
      0);
  ck_assert_int_eq(pthread_getname_np(thread, name, sizeof(name)), 0);
  ck_assert_str_eq(name, "pems-fifteen-ch");
  pthread_mutex_unlock(&hold);
  pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_shortage_is_told_and_signals_are_open_again) {
  pthread_t thread;
  const struct thread_options much = {.stack = (size_t)1 << 60};
  ck_assert_int_ne(thread_start(&thread, look, NULL, &much), 0);
  assert_open();
}
END_TEST

static volatile sig_atomic_t handled;

static void handle(int number) {
  handled = number;
}

START_TEST(a_blocked_signal_comes_afterwards) {
  sigset_t before;
  signal(SIGUSR1, handle);
  thread_block_signals(&before);
  raise(SIGUSR1);
  ck_assert_int_eq(handled, 0);
  thread_unblock_signals(&before);
  ck_assert_int_eq(handled, SIGUSR1);
}
END_TEST

START_TEST(the_kernel_tells_of_threads) {
  char own[64], same[64], cut[4];
  ck_assert(thread_tells(0, "comm", own, sizeof(own)));
  ck_assert(thread_tells(getpid(), "comm", same, sizeof(same)));
  ck_assert_str_eq(own, same);
  ck_assert(thread_tells(0, "comm", cut, sizeof(cut)));
  ck_assert_uint_eq(strlen(cut), sizeof(cut) - 1);
  ck_assert_mem_eq(cut, own, sizeof(cut) - 1);
  ck_assert(!thread_tells(0, "none", own, sizeof(own)));
  ck_assert_str_eq(own, "");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      blocks_signals_of_the_new_thread_only,
      lets_page_faults_through_where_asked,
      has_the_stack_that_is_asked_for,
      a_stack_that_is_too_small_is_not_an_error,
      has_its_name,
      a_shortage_is_told_and_signals_are_open_again,
      a_blocked_signal_comes_afterwards,
      the_kernel_tells_of_threads,
      NULL,
  };
  return check_main("thread", tests);
}
