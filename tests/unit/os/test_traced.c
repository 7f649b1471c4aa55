#define _GNU_SOURCE
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/traced.h"

#include "check_main.h"

/* The exit status of a child that says whether it is traced. */
static int ask_child(bool trace) {
  int status;
  const pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    if (trace && ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
      _exit(77);
    }
    _exit(traced_is());
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  return WEXITSTATUS(status);
}

START_TEST(sees_a_tracer) {
  const int status = ask_child(true);
  if (status != 77) { /* a sandbox may forbid ptrace */
    ck_assert_int_eq(status, 1);
  }
}
END_TEST

START_TEST(sees_that_there_is_none) {
  ck_assert_int_eq(ask_child(false), traced_is());
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      sees_a_tracer,
      sees_that_there_is_none,
      NULL,
  };
  return check_main("traced", tests);
}
