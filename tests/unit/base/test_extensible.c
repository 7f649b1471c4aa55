#include "base/extensible.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include <pems/status.h>

#include "check_main.h"

/* The options of three versions of a library. */
struct first {
  size_t size;
  int a;
  int b;
};
struct second {
  size_t size;
  int a;
  int b;
  long c;
};
struct third {
  size_t size;
  int a;
  int b;
  long c;
  long d[2];
};

static struct pems_error error;

static int copy(struct second *own, const void *given) {
  memset(own, 0xaa, sizeof(*own));
  error = (struct pems_error){0};
  return extensible_copy(own, sizeof(*own), given, sizeof(struct first),
                         "test options", &error);
}

START_TEST(no_size_is_that_of_the_first_version) {
  struct second given = {.a = 1, .b = 2, .c = 3}, own;
  ck_assert_int_eq(copy(&own, &given), 0);
  ck_assert_int_eq(own.a, 1);
  ck_assert_int_eq(own.b, 2);
  ck_assert_int_eq(own.c, 0);
  ck_assert_uint_eq(own.size, sizeof(own));
}
END_TEST

START_TEST(an_older_program_s_new_fields_are_0) {
  struct first given = {.size = sizeof(given), .a = 1};
  struct second own;
  ck_assert_int_eq(copy(&own, &given), 0);
  ck_assert_int_eq(own.a, 1);
  ck_assert_int_eq(own.c, 0);
}
END_TEST

START_TEST(the_same_version_s_fields_are_all_copied) {
  struct second given = {.size = sizeof(given), .c = 7}, own;
  ck_assert_int_eq(copy(&own, &given), 0);
  ck_assert_int_eq(own.c, 7);
}
END_TEST

START_TEST(a_later_program_may_leave_new_fields_0) {
  struct third given = {.size = sizeof(given), .c = 7};
  struct second own;
  ck_assert_int_eq(copy(&own, &given), 0);
  ck_assert_int_eq(own.c, 7);
  ck_assert_uint_eq(own.size, sizeof(own));
}
END_TEST

START_TEST(what_only_a_later_version_has_is_refused) {
  struct third given = {.size = sizeof(given), .d = {0, 1}};
  struct second own;
  ck_assert_int_eq(copy(&own, &given), ENOSYS);
  ck_assert_str_eq(error.text,
                   "test options: an option that this version of libpems-em "
                   "does not have: install a later one");
}
END_TEST

START_TEST(a_size_below_the_first_version_s_is_refused) {
  struct first given = {.size = 8};
  struct second own;
  ck_assert_int_eq(copy(&own, &given), EINVAL);
  ck_assert_str_eq(error.text, "test options: size 8: set it to the struct's "
                               "sizeof, or to 0");
}
END_TEST

START_TEST(no_options_are_all_0) {
  struct second own;
  ck_assert_int_eq(copy(&own, NULL), 0);
  ck_assert_int_eq(own.a, 0);
  ck_assert_int_eq(own.c, 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("extensible");
  TCase *cases = tcase_create("extensible");
  tcase_add_test(cases, no_size_is_that_of_the_first_version);
  tcase_add_test(cases, an_older_program_s_new_fields_are_0);
  tcase_add_test(cases, the_same_version_s_fields_are_all_copied);
  tcase_add_test(cases, a_later_program_may_leave_new_fields_0);
  tcase_add_test(cases, what_only_a_later_version_has_is_refused);
  tcase_add_test(cases, a_size_below_the_first_version_s_is_refused);
  tcase_add_test(cases, no_options_are_all_0);
  suite_add_tcase(suite, cases);
  return check_run(suite);
}
