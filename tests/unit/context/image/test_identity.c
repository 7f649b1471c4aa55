/* What a process runs: the same process is the same, and a difference is named.
 */
#include "context/image/identity.h"

#include "check_main.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pems_error error;
static struct identity own;

static void set_up(void) {
  ck_assert_msg(identity_find(&own, &error) == 0, "%s", error.text);
}

static void tear_down(void) {
  identity_free(&own);
}

/* As it is written. */
static char *text_of(const struct identity *which) {
  char *text = NULL;
  size_t size = 0;
  FILE *const f = open_memstream(&text, &size);
  ck_assert_int_eq(identity_write(which, f, &error), 0);
  fclose(f);
  return text;
}

static int read_text(struct identity *to, const char *text) {
  FILE *const f = fmemopen((void *)text, strlen(text), "r");
  const int code = identity_read(to, f, "FILE", &error);
  fclose(f);
  return code;
}

START_TEST(a_process_is_found) {
  bool libc = false;
  ck_assert_int_ge(own.n, 2);
  ck_assert_int_eq(strncmp(own.libc, "glibc 2.", 8), 0);
  ck_assert_uint_gt(strlen(own.processor), 0);
  ck_assert_ptr_nonnull(strstr(own.file[0].path, "test_identity"));
  for (int i = 0; i < own.n; i++) {
    ck_assert_uint_ge(strlen(own.file[i].id), 16);
    libc |= strstr(own.file[i].path, "libc.so") != NULL;
  }
  ck_assert(libc);
}
END_TEST

START_TEST(text_says_all_of_it) {
  struct identity copy;
  char *const text = text_of(&own);
  ck_assert_msg(read_text(&copy, text) == 0, "%s", error.text);
  ck_assert_int_eq(copy.n, own.n);
  ck_assert_int_eq(identity_compare(&own, &copy, &error), 0);
  identity_free(&copy);
  free(text);
}
END_TEST

/* Build-ids in memory are those in the files. */
START_TEST(files_are_as_they_were_loaded) {
  struct identity here;
  ck_assert_msg(identity_here(&here, &own, &error) == 0, "%s", error.text);
  ck_assert_msg(identity_compare(&own, &here, &error) == 0, "%s", error.text);
  identity_free(&here);
}
END_TEST

static void assert_differs(const char *with) {
  struct identity other;
  char *const text = text_of(&own);
  ck_assert_int_eq(read_text(&other, text), 0);
  free(text);
  if (strcmp(with, "C library") == 0) {
    strcpy(other.libc, "glibc 2.1");
  } else if (strcmp(with, "processor") == 0) {
    strcpy(other.processor, "x86-64-v9");
  } else if (strcmp(with, "version of a file") == 0) {
    other.file[1].id[3] ^= 1;
  } else if (strcmp(with, "file is loaded") == 0) {
    other.file[1].path[0] = '.';
  } else {
    free(other.file[--other.n].path);
  }
  ck_assert_int_eq(identity_compare(&own, &other, &error), EINVAL);
  ck_assert_msg(strstr(error.text, with) != NULL, "%s", error.text);
  ck_assert_ptr_null(strchr(error.text, '\n'));
  identity_free(&other);
}

START_TEST(each_difference_is_named) {
  assert_differs("C library");
  assert_differs("processor");
  assert_differs("version of a file");
  assert_differs("file is loaded");
  assert_differs("file less");
}
END_TEST

START_TEST(other_text_is_refused) {
  static const char *const bad[] = {
      "x",
      "identity 2\nlibc g\nprocessor p\nfile 1 /a\n",
      "identity 1\n",
      "identity 1\nlibc g\nprocessor p\n",
      "identity 1\nlibc g\nfile 1 /a\n",
      "identity 1\nlibc g\nprocessor p\nfile /a\n",
      "identity 1\nlibc g\nprocessor p\nfile 1 /a\nmore\n",
      "identity 1\nlibc 0123456789012345678901234567890123\n",
      "identity 1\nlibc g\nprocessor p\nfile "
      "012345678901234567890123456789012345678901234567890123456789012345678901"
      "23"
      " /a\n",
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    struct identity which;
    ck_assert_int_eq(read_text(&which, bad[i]), EINVAL);
    ck_assert_msg(strstr(error.text, "FILE: line ") != NULL, "%s", error.text);
    identity_free(&which);
  }
}
END_TEST

START_TEST(a_file_that_is_gone_is_named) {
  struct identity which, here;
  ck_assert_int_eq(
      read_text(&which,
                "identity 1\nlibc g\nprocessor p\nfile 1 /nowhere/a.so\n"),
      0);
  ck_assert_int_eq(identity_here(&here, &which, &error), ENOENT);
  ck_assert_ptr_nonnull(strstr(error.text, "/nowhere/a.so"));
  identity_free(&here);
  identity_free(&which);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("identity");
  TCase *const t = tcase_create("identity");
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, a_process_is_found);
  tcase_add_test(t, text_says_all_of_it);
  tcase_add_test(t, files_are_as_they_were_loaded);
  tcase_add_test(t, each_difference_is_named);
  tcase_add_test(t, other_text_is_refused);
  tcase_add_test(t, a_file_that_is_gone_is_named);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
