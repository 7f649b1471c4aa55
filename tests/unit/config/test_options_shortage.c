/* Options where the copy of a name fails, each in its turn. Linked with --wrap
   for strdup. */
#define _GNU_SOURCE
#include "config/options.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);

static int left; /* copies until one fails */

char *__wrap_strdup(const char *s) {
  return left-- == 0 ? NULL : __real_strdup(s);
}

static int parse(struct options *o, struct pems_error *error) {
  static char *const env[] = {"PEMS_DISK=/a", NULL};
  char *argv[] = {"app", "--pems-io=unix", "--pems-report", "/r", "x", NULL};
  int argc = 5;
  error->text[0] = '\0';
  return options_parse(o, &argc, argv, env, error);
}

START_TEST(each_name_may_be_one_too_many) {
  struct options o;
  struct pems_error error;
  int n = 0;
  for (;; n++) {
    left = n;
    const int code = parse(&o, &error);
    if (left >= 0) {
      ck_assert_int_eq(code, 0);
      break;
    }
    ck_assert_int_eq(code, ENOMEM);
    ck_assert_ptr_nonnull(strstr(error.text, "out of memory"));
    options_free(&o);
  }
  ck_assert_int_ge(n, 3);
  ck_assert_str_eq(o.disk, "/a");
  ck_assert_str_eq(o.io, "unix");
  ck_assert_str_eq(o.report, "/r");
  options_free(&o);
}
END_TEST

START_TEST(what_was_set_stays) {
  struct options o = {0};
  struct pems_error error;
  left = -1; /* none fails */
  ck_assert_int_eq(options_set(&o, "disk", "/a", &error), 0);
  left = 0;
  ck_assert_int_eq(options_set(&o, "disk", "/b", &error), ENOMEM);
  ck_assert_str_eq(o.disk, "/a");
  options_free(&o);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {each_name_may_be_one_too_many,
                                what_was_set_stays, NULL};
  return check_main("options_shortage", tests);
}
