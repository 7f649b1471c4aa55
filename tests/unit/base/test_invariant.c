/* Conditions of debug builds, which this test always has. */
#define _GNU_SOURCE
#ifndef PEMS_DEBUG
#define PEMS_DEBUG
#endif
#include "base/invariant.c"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "check_child.h"
#include "check_main.h"

static int evaluated;

static int count(void) {
  return ++evaluated;
}

START_TEST(what_holds_goes_on) {
  const unsigned small = 3;
  INVARIANT(small == 3);
  INVARIANT_IS(small, <=, 3u);
  INVARIANT_IS(count(), ==, 1); /* each side is evaluated once */
  ck_assert_int_eq(evaluated, 1);
}
END_TEST

static void break_one(void) {
  const char *const nothing = NULL;
  INVARIANT(nothing && "something");
}

static void break_comparison(void) {
  const uint64_t used = UINT64_C(1) << 40;
  INVARIANT_IS(used, <=, 5);
}

START_TEST(what_does_not_ends_the_process) {
  char said[512];
  const int status = check_child(break_one, said, sizeof(said));
  ck_assert(WIFSIGNALED(status));
  ck_assert_int_eq(WTERMSIG(status), SIGABRT);
  ck_assert_ptr_nonnull(strstr(said, "pems: invariant: "));
  ck_assert_ptr_nonnull(strstr(said, "test_invariant.c:"));
  ck_assert_ptr_nonnull(strstr(said, ": nothing && \"something\"\n"));
}
END_TEST

START_TEST(a_comparison_says_its_values) {
  char said[512];
  const int status = check_child(break_comparison, said, sizeof(said));
  ck_assert(WIFSIGNALED(status));
  ck_assert_ptr_nonnull(strstr(said, ": used <= 5: 1099511627776 and 5\n"));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_holds_goes_on,
                                what_does_not_ends_the_process,
                                a_comparison_says_its_values, NULL};
  return check_main("invariant", tests);
}
