/* Stacks of which most is a file, or shut until it is wanted. */
#include "vp/stack.h"

#include <check.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_main.h"

enum { MIB = 1 << 20 };

struct runner {
  void *stack;
  int status;
};

static void *run_on(struct runner *r, void *f(void *)) {
  pthread_attr_t attr;
  pthread_t thread;
  pthread_attr_init(&attr);
  ck_assert_int_eq(pthread_attr_setstack(&attr, r->stack, stack_size()), 0);
  ck_assert_int_eq(pthread_create(&thread, &attr, f, r), 0);
  pthread_attr_destroy(&attr);
  pthread_join(thread, NULL);
  return r;
}

static unsigned sum(const volatile unsigned char *p, size_t n) {
  unsigned all = 0;
  for (size_t i = 0; i < n; i++) {
    all = all * 31 + p[i];
  }
  return all;
}

/* The child's array is its own, whatever the parent does to its own. */
static int fork_with(struct runner *r, size_t n) {
  volatile unsigned char array[n];
  int status = -1;
  for (size_t i = 0; i < n; i++) {
    array[i] = (unsigned char)(i * 7 + (i >> 12));
  }
  const unsigned right = sum(array, n);
  stack_before_fork(r->stack);
  const pid_t child = fork();
  if (child == 0) {
    usleep(50000);
    _exit(sum(array, n) == right ? 0 : 4);
  }
  for (size_t i = 0; i < n; i++) {
    array[i] = 0;
  }
  waitpid(child, &status, 0);
  return status;
}

static void *fork_deep(void *arg) {
  struct runner *const r = arg;
  r->status = fork_with(r, 6 * MIB);
  return NULL;
}

static void *fork_shallow(void *arg) {
  struct runner *const r = arg;
  r->status = fork_with(r, 1000);
  return NULL;
}

START_TEST(a_forked_child_has_a_stack_of_its_own) {
  stacks_start("/tmp", 2, false);
  struct runner r = {stack_make(1, NULL), -1};
  ck_assert_ptr_nonnull(r.stack);
  run_on(&r, fork_shallow);
  ck_assert_int_eq(r.status, 0);
  run_on(&r, fork_deep);
  ck_assert_int_eq(r.status, 0);
  stack_free(r.stack);
  stacks_end();
}
END_TEST

START_TEST(only_the_end_is_memory) {
  stacks_start("/tmp", 3, false);
  char *const stack = stack_make(2, NULL);
  ck_assert(stack_is_file(stack));
  ck_assert(stack_is_file(stack + stack_size() - MIB));
  ck_assert(!stack_is_file(stack + stack_size() - 1));
  ck_assert(!stack_is_file(stack - 1));
  stack_free(stack);
  stacks_end();
}
END_TEST

START_TEST(stacks_do_not_share_their_file) {
  stacks_start("/tmp", 2, false);
  char *const a = stack_make(0, NULL), *const b = stack_make(1, NULL);
  memset(a, 1, stack_size());
  memset(b, 2, stack_size());
  for (size_t i = 0; i < stack_size(); i += 999) {
    ck_assert_int_eq(a[i], 1);
  }
  stack_free(a);
  stack_free(b);
  stacks_end();
}
END_TEST

START_TEST(without_a_folder_all_is_memory) {
  stacks_start("/nowhere", 1, false);
  char *const stack = stack_make(0, NULL);
  ck_assert_ptr_nonnull(stack);
  memset(stack, 1, stack_size());
  ck_assert(!stack_is_file(stack));
  stack_free(stack);
  stacks_end();
}
END_TEST

START_TEST(what_the_disk_has_no_room_for_becomes_memory) {
  stacks_start("/tmp", 2, false);
  char *const stack = stack_make(1, NULL);
  char *const written = stack + MIB;
  *written = 7;
  ck_assert(stacks_may_lack());
  ck_assert(stacks_supply(stack + 3 * MIB + 5));
  ck_assert(!stacks_supply(stack + stack_size() - 1));
  ck_assert(!stacks_supply(&written));
  /* what was written stays, and so does what is beside it */
  ck_assert(stacks_supply(written));
  ck_assert(stacks_supply(written + 4096));
  written[4096] = 8;
  ck_assert(stacks_supply(written + 2 * 4096));
  ck_assert_int_eq(*written, 7);
  ck_assert_int_eq(written[4096], 8);
  stack[3 * MIB] = 1;
  ck_assert_int_eq(stack[3 * MIB + 1], 0);
  stack_free(stack);
  ck_assert(!stacks_supply(written + 4096));
  stacks_end();
}
END_TEST

/* --- growing --- */

enum { END = 128 << 10 }; /* of each stack, always memory */

static void setup_growing(void) {
  stacks_start("/tmp", 3, true);
}

START_TEST(all_but_the_end_is_shut) {
  char *const stack = stack_make(2, NULL), *const top = stack + stack_size();
  ck_assert(stacks_grow());
  memset(top - END, 1, END);
  ck_assert(stack_is_shut(2, stack));
  ck_assert(stack_is_shut(2, top - END - 1));
  ck_assert(!stack_is_shut(2, top - END));
  ck_assert(!stack_is_shut(2, stack - 1));
  ck_assert(!stack_is_shut(1, stack));
  ck_assert(!stack_is_shut(3, stack));
  ck_assert_ptr_eq(stack_shut_to(2), top - END);
  ck_assert(!stack_is_file(stack));
  stack_free(stack);
  ck_assert(!stack_is_shut(2, stack));
}
END_TEST

START_TEST(what_is_opened_is_memory_and_stays) {
  char *const stack = stack_make(0, NULL), *const top = stack + stack_size();
  char *const to = stack_reach(0, top - MIB);
  ck_assert(to <= top - MIB);
  ck_assert(stack_open(0, to));
  ck_assert_ptr_eq(stack_shut_to(0), to);
  memset(to, 3, (size_t)(top - to));
  ck_assert(stack_open(0, to)); /* somebody else has been faster */
  ck_assert(stack_open(0, top - END));
  ck_assert_int_eq(*to, 3);
  stack_shut(0, top - MIB / 2);
  ck_assert_ptr_eq(stack_shut_to(0), top - MIB / 2);
  ck_assert_int_eq(*(top - MIB / 2), 3);
  ck_assert(stack_open(0, to));
  ck_assert_int_eq(*to, 0);
  stack_free(stack);
}
END_TEST

START_TEST(what_is_above_is_memory_and_no_stack) {
  const size_t size = stack_size();
  stacks_end();
  stack_choose_top(4 * MIB);
  setup_growing();
  ck_assert_uint_eq(stack_size(), size + 4 * MIB);
  char *const stack = stack_make(0, NULL), *const end = stack + size;
  ck_assert_ptr_eq(stack_shut_to(0), end - END);
  memset(end - END, 1, END + 4 * MIB);
  /* It grows as one without. */
  ck_assert(stack_reach(0, end - END - 1) >= end - 2 * END);
  ck_assert_ptr_eq(stack_reach(0, stack), stack);
  stack_free(stack);
  stack_choose_top(0);
}
END_TEST

/* A stack of 1 GiB is to be had in a few dozen steps. */
START_TEST(steps_become_larger) {
  int steps = 0;
  stack_choose_size((size_t)1024 * MIB);
  stacks_end();
  setup_growing();
  char *const stack = stack_make(0, NULL);
  for (; stack_is_shut(0, stack); steps++) {
    char *const to = stack_reach(0, stack_shut_to(0) - 1);
    ck_assert(to < stack_shut_to(0));
    ck_assert(to >= stack);
    ck_assert_uint_eq((uintptr_t)to % 4096, 0);
    ck_assert(stack_open(0, to));
  }
  ck_assert_int_lt(steps, 50);
  stack_free(stack);
  stack_choose_size(0);
}
END_TEST

START_TEST(the_rest_can_be_a_file) {
  char *const stack = stack_make(1, NULL), *const top = stack + stack_size();
  char *const to = stack_reach(1, top - 2 * MIB);
  ck_assert(stack_open(1, to));
  *to = 5;
  ck_assert(stack_open_file(1));
  ck_assert(!stack_is_shut(1, stack));
  ck_assert_ptr_eq(stack_shut_to(1), stack);
  ck_assert(stack_is_file(stack));
  ck_assert(stack_is_file(to - 1));
  ck_assert(!stack_is_file(to));
  memset(stack, 6, (size_t)(to - stack));
  ck_assert_int_eq(*to, 5);
  ck_assert(stacks_supply(to - 1));
  ck_assert(!stacks_supply(to));
  ck_assert_int_eq(to[-1], 6);
  stack_free(stack);
}
END_TEST

/* What is a file stays open, and what is given back joins it. */
START_TEST(files_are_not_shut_again) {
  char *const stack = stack_make(1, NULL), *const top = stack + stack_size();
  char *const to = stack_reach(1, top - 2 * MIB);
  ck_assert(stack_open(1, to) && stack_open_file(1));
  *stack = 4;
  to[-1] = 4;
  *to = 4;
  stack_shut(1, to + MIB);
  ck_assert(!stack_is_shut(1, stack));
  ck_assert_int_eq(*stack, 4);
  ck_assert_int_eq(to[-1], 4);
  ck_assert_int_eq(*to, 0);
  ck_assert(stack_is_file(to + MIB - 1));
  ck_assert(!stack_is_file(to + MIB));
  stack_free(stack);
}
END_TEST

static void *fork_grown(void *arg) {
  struct runner *const r = arg;
  r->status = fork_with(r, 3 * MIB);
  return NULL;
}

START_TEST(a_grown_stack_is_its_childs_own) {
  struct runner r = {stack_make(1, NULL), -1};
  char *const top = (char *)r.stack + stack_size();
  ck_assert(stack_open(1, stack_reach(1, top - 2 * MIB)));
  ck_assert(stack_open_file(1));
  run_on(&r, fork_grown);
  ck_assert_int_eq(r.status, 0);
  stack_free(r.stack);
}
END_TEST

START_TEST(they_are_as_large_as_the_limit) {
  struct rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  limit.rlim_cur = 1 * MIB;
  setrlimit(RLIMIT_STACK, &limit);
  ck_assert_uint_eq(stack_size(), 8 * MIB);
  if (limit.rlim_max == RLIM_INFINITY) {
    limit.rlim_cur = 64 * MIB;
    setrlimit(RLIMIT_STACK, &limit);
    ck_assert_uint_eq(stack_size(), 64 * MIB);
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_STACK, &limit);
    ck_assert_uint_eq(stack_size(), 1024 * MIB);
    stacks_start("/tmp", 200, false);
    char *const stack = stack_make(199, NULL);
    ck_assert_ptr_nonnull(stack);
    stack[0] = stack[stack_size() - 1] = 1;
    stack_free(stack);
  }
}
END_TEST

int main(void) {
  Suite *s = suite_create("stack");
  TCase *files = tcase_create("files"), *growing = tcase_create("growing");
  tcase_add_test(files, a_forked_child_has_a_stack_of_its_own);
  tcase_add_test(files, only_the_end_is_memory);
  tcase_add_test(files, stacks_do_not_share_their_file);
  tcase_add_test(files, without_a_folder_all_is_memory);
  tcase_add_test(files, what_the_disk_has_no_room_for_becomes_memory);
  tcase_add_test(files, they_are_as_large_as_the_limit);
  suite_add_tcase(s, files);
  tcase_add_checked_fixture(growing, setup_growing, stacks_end);
  tcase_add_test(growing, all_but_the_end_is_shut);
  tcase_add_test(growing, what_is_opened_is_memory_and_stays);
  tcase_add_test(growing, what_is_above_is_memory_and_no_stack);
  tcase_add_test(growing, steps_become_larger);
  tcase_add_test(growing, the_rest_can_be_a_file);
  tcase_add_test(growing, files_are_not_shut_again);
  tcase_add_test(growing, a_grown_stack_is_its_childs_own);
  suite_add_tcase(s, growing);
  return check_run(s);
}
