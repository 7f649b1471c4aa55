/* What main does in a unit test that needs no fixture. */
#ifndef TESTS_CHECK_MAIN_H
#define TESTS_CHECK_MAIN_H

#include <check.h>
#include <stdlib.h>

/* Runs the tests, up to a NULL; the exit status. */
static inline int check_main(const char *name, const TTest *const *tests) {
  Suite *const suite = suite_create(name);
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  for (; *tests; tests++) {
    tcase_add_test(all, *tests);
  }
  suite_add_tcase(suite, all);
  SRunner *const runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
