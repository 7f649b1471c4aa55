/* Faults that tests order. */
#include "checkpoint/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "check_child.h"
#include "check_main.h"

START_TEST(there_is_none_unless_one_is_ordered) {
  for (int i = 0; i < 10; i++) {
    ck_assert_int_eq(checkpoint_fault(), 0);
  }
}
END_TEST

START_TEST(one_call_fails) {
  setenv("PEMS_TEST_CHECKPOINT", "eio:3", 1);
  ck_assert_int_eq(checkpoint_fault(), 0);
  ck_assert_int_eq(checkpoint_fault(), 0);
  ck_assert_int_eq(checkpoint_fault(), EIO);
  ck_assert_int_eq(checkpoint_fault(), 0);
}
END_TEST

static void call_twice(void) {
  (void)checkpoint_fault();
  dprintf(STDERR_FILENO, "once");
  (void)checkpoint_fault();
  dprintf(STDERR_FILENO, "twice");
}

START_TEST(one_call_kills) {
  char said[64];
  setenv("PEMS_TEST_CHECKPOINT", "kill:2", 1);
  const int status = check_child(call_twice, said, sizeof(said));
  ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  ck_assert_str_eq(said, "once");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {there_is_none_unless_one_is_ordered,
                                one_call_fails, one_call_kills, NULL};
  return check_main("fault", tests);
}
