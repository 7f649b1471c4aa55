#include <pems/version.h>

#include <check.h>
#include <stdio.h>

#include "config.h"

#include "check_main.h"

START_TEST(the_headers_have_the_package_s_version) {
  char text[32];
  snprintf(text, sizeof(text), "%d.%d.%d", PEMS_VERSION_MAJOR,
           PEMS_VERSION_MINOR, PEMS_VERSION_PATCH);
  ck_assert_str_eq(text, PACKAGE_VERSION);
  ck_assert_str_eq(PEMS_VERSION_STRING, PACKAGE_VERSION);
}
END_TEST

START_TEST(the_library_s_is_that_of_its_headers) {
  ck_assert_int_eq(pems_version_number(), PEMS_VERSION_NUMBER);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("version");
  TCase *cases = tcase_create("version");
  tcase_add_test(cases, the_headers_have_the_package_s_version);
  tcase_add_test(cases, the_library_s_is_that_of_its_headers);
  suite_add_tcase(suite, cases);
  return check_run(suite);
}
