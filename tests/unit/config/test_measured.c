#define _GNU_SOURCE
#include "config/measured.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check_main.h"

static char dir[64];

static void set_up(void) {
  strcpy(dir, "/tmp/test_measured-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  setenv("XDG_CACHE_HOME", dir, 1);
}

static void tear_down(void) {
  char command[100];
  snprintf(command, sizeof(command), "rm -rf %s", dir);
  ck_assert_int_eq(system(command), 0);
}

START_TEST(what_was_kept_is_found) {
  ck_assert_uint_eq(measured_find("unix", "/var/tmp"), 0);
  ck_assert_int_eq(measured_keep("unix", "/var/tmp", 1000), 0);
  ck_assert_int_eq(measured_keep("uring", "/var/tmp", 2000), 0);
  ck_assert_int_eq(measured_keep("unix", "/a,/b", 3000), 0);
  ck_assert_uint_eq(measured_find("unix", "/var/tmp"), 1000);
  ck_assert_uint_eq(measured_find("uring", "/var/tmp"), 2000);
  ck_assert_uint_eq(measured_find("unix", "/a,/b"), 3000);
  ck_assert_uint_eq(measured_find("unix", "/a"), 0);
  ck_assert_uint_eq(measured_find("unix", "/var/tm"), 0);
}
END_TEST

START_TEST(the_last_measurement_counts) {
  ck_assert_int_eq(measured_keep("unix", "/a", 1), 0);
  ck_assert_int_eq(measured_keep("unix", "/b", 2), 0);
  ck_assert_int_eq(measured_keep("unix", "/a", 3), 0);
  ck_assert_uint_eq(measured_find("unix", "/a"), 3);
  ck_assert_uint_eq(measured_find("unix", "/b"), 2);
}
END_TEST

START_TEST(others_cannot_read_it) {
  char path[100];
  struct stat st;
  ck_assert_int_eq(measured_keep("unix", "/a", 1), 0);
  snprintf(path, sizeof(path), "%s/pems/disks", dir);
  ck_assert_int_eq(stat(path, &st), 0);
  ck_assert_uint_eq(st.st_mode & 0777, 0600);
}
END_TEST

START_TEST(without_a_home_nothing_is_kept) {
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  ck_assert_int_ne(measured_keep("unix", "/a", 1), 0);
  ck_assert_uint_eq(measured_find("unix", "/a"), 0);
  setenv("XDG_CACHE_HOME", "/dev/null/not/there", 1);
  ck_assert_int_ne(measured_keep("unix", "/a", 1), 0);
}
END_TEST

int main(void) {
  Suite *s = suite_create("measured");
  TCase *t = tcase_create("measured");
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, what_was_kept_is_found);
  tcase_add_test(t, the_last_measurement_counts);
  tcase_add_test(t, others_cannot_read_it);
  tcase_add_test(t, without_a_home_nothing_is_kept);
  suite_add_tcase(s, t);
  return check_run(s);
}
