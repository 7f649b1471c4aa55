#include "config.h"

#include <check.h>
#include <string.h>

#include "check_main.h"

/* pems.h refers to it weakly, and that alone does not link it. */
const char *pems_api_version(void);

START_TEST(it_is_that_of_the_package) {
  ck_assert_str_eq(pems_api_version(), PACKAGE_VERSION);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("version");
  TCase *cases = tcase_create("version");
  tcase_add_test(cases, it_is_that_of_the_package);
  suite_add_tcase(suite, cases);
  return check_run(suite);
}
