/* How the main function of a unit test ends, and all of one without fixtures;
   and assertions that cost nothing in loops. */
#ifndef TESTS_CHECK_MAIN_H
#define TESTS_CHECK_MAIN_H

#include <check.h>
#include <stdlib.h>

/* With each assertion that holds libcheck writes to a file, to tell where a
   test was when it crashes: a system call, which takes more time than what is
   tested where there are thousands of them. The first thousand of a test do. */
static inline void check_mark(const char *file, int line) {
  static _Atomic int marks;
  if (marks < 1000) {
    marks++;
    _mark_point(file, line);
  }
}
#define _mark_point(file, line) check_mark(file, line)

/* Runs a suite, in this process if `mode` is CK_NOFORK, and frees it; the exit
   status. */
static inline int check_run_as(Suite *suite, enum fork_status mode) {
  SRunner *const runner = srunner_create(suite);
  srunner_set_fork_status(runner, mode);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The same, each test in a process of its own unless CK_FORK=no says not. */
static inline int check_run(Suite *suite) {
  return check_run_as(suite, CK_FORK_GETENV);
}

/* Runs the tests, up to a NULL, each between `setup` and `teardown`, which may
   be NULL; the exit status. */
static inline int check_main_around(const char *name, const TTest *const *tests,
                                    void (*setup)(void),
                                    void (*teardown)(void)) {
  Suite *const suite = suite_create(name);
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_checked_fixture(all, setup, teardown);
  for (; *tests; tests++) {
    tcase_add_test(all, *tests);
  }
  suite_add_tcase(suite, all);
  return check_run(suite);
}

/* The same without. */
static inline int check_main(const char *name, const TTest *const *tests) {
  return check_main_around(name, tests, NULL, NULL);
}

#endif
