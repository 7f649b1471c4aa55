/* Outputs that are written where they are. */
#include "disk/special.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_main.h"

static char dir[64];
static char path[128];

static void begin(void) {
  strcpy(dir, "/var/tmp/test_special-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(path, sizeof(path), "%s/x", dir);
}

static void end(void) {
  unlink(path);
  ck_assert_int_eq(rmdir(dir), 0);
}

START_TEST(devices_and_pipes) {
  ck_assert(special_is("/dev/null"));
  const int fd = special_open("/dev/null");
  ck_assert_int_gt(fd, STDERR_FILENO);
  close(fd);
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  ck_assert(special_is(path));
}
END_TEST

START_TEST(files_are_not) {
  ck_assert(!special_is(dir));
  ck_assert(!special_is(path)); /* nothing is there */
  close(open(path, O_CREAT | O_WRONLY, 0600));
  ck_assert(!special_is(path));
}
END_TEST

/* A file by its own name is one, also if standard output goes to it. */
START_TEST(standard_output_is_used_as_it_is) {
  const int was = dup(STDOUT_FILENO);
  const int fd = open(path, O_CREAT | O_WRONLY, 0600);
  dup2(fd, STDOUT_FILENO);
  const bool by_name = special_is("/dev/stdout"), itself = special_is(path);
  const bool other = special_is("/proc/self/fd/1");
  const int opened = special_open("/dev/stdout");
  dup2(was, STDOUT_FILENO);
  close(was);
  close(fd);
  ck_assert(by_name && other && !itself);
  ck_assert_int_eq(opened, STDOUT_FILENO);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("special");
  TCase *const t = tcase_create("special");
  tcase_add_checked_fixture(t, begin, end);
  tcase_add_test(t, devices_and_pipes);
  tcase_add_test(t, files_are_not);
  tcase_add_test(t, standard_output_is_used_as_it_is);
  suite_add_tcase(s, t);
  return check_run(s);
}
