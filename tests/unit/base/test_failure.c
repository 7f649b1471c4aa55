/* Filling in a struct pems_error. */
#include "base/failure.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

START_TEST(notes_code_and_text) {
  struct pems_error error = {0};
  ck_assert_int_eq(failure(&error, EIO, "disk: %s: %d", "a", 3), EIO);
  ck_assert_int_eq(error.code, EIO);
  ck_assert_str_eq(error.text, "disk: a: 3");
}
END_TEST

START_TEST(works_without_an_error) {
  ck_assert_int_eq(failure(NULL, ENOSPC, "disk: %s", "a"), ENOSPC);
}
END_TEST

START_TEST(cuts_what_is_too_long) {
  struct pems_error error;
  char text[2 * sizeof(error.text)];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = 0;
  ck_assert_int_eq(failure(&error, EINVAL, "%s", text), EINVAL);
  ck_assert_uint_eq(strlen(error.text), sizeof(error.text) - 1);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("failure");
  TCase *const t = tcase_create("failure");
  tcase_add_test(t, notes_code_and_text);
  tcase_add_test(t, works_without_an_error);
  tcase_add_test(t, cuts_what_is_too_long);
  suite_add_tcase(s, t);
  return check_run(s);
}
