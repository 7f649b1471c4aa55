/* Temporary names beside a file. */
#define _GNU_SOURCE
#include "disk/name.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"

static char dir[64];
static char target[PATH_MAX];

static void begin(void) {
  strcpy(dir, "/var/tmp/test_name-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(target, sizeof(target), "%s/file", dir);
}

/* No name is left. */
static void end(void) {
  ck_assert_int_eq(rmdir(dir), 0);
}

/* *arg: how often it fails before. */
static int make(const char *path, void *arg) {
  int *const failures = arg;
  if ((*failures)-- > 0) {
    return EEXIST;
  }
  const int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (fd < 0) {
    return errno;
  }
  close(fd);
  return 0;
}

START_TEST(names_lie_beside_their_file) {
  struct name name;
  int failures = 3;
  char want[PATH_MAX + 16];
  snprintf(want, sizeof(want), "%s.pems-", target);
  ck_assert_int_eq(name_make(&name, target, make, &failures), 0);
  ck_assert_int_eq(failures, -1);
  ck_assert_int_eq(strncmp(name.path, want, strlen(want)), 0);
  ck_assert_uint_eq(strlen(name.path), strlen(want) + 6);
  ck_assert_int_eq(name_move(&name, target), 0);
  ck_assert_str_eq(name.path, "");
  ck_assert_int_eq(access(target, F_OK), 0);
  name_remove(&name); /* nothing any more */
  ck_assert_int_eq(unlink(target), 0);
}
END_TEST

START_TEST(long_names_fit) {
  char long_name[256];
  struct name name;
  int failures = 0;
  memset(long_name, 'x', 255);
  long_name[255] = 0;
  snprintf(target, sizeof(target), "%s/%s", dir, long_name);
  ck_assert_int_eq(name_make(&name, target, make, &failures), 0);
  ck_assert_int_eq(name_move(&name, target), 0);
  ck_assert_int_eq(unlink(target), 0);
}
END_TEST

START_TEST(more_names_than_can_be_noted) {
  enum { N = 70 };
  static struct name name[N];
  int failures = 0;
  for (int i = 0; i < N; i++) {
    ck_assert_int_eq(name_make(&name[i], target, make, &failures), 0);
  }
  name_unlink_all();
  for (int i = 0; i < N; i++) {
    ck_assert_int_eq(access(name[i].path, F_OK) == 0, name[i].slot < 0);
    name_remove(&name[i]);
  }
  /* Their places can be had again. */
  ck_assert_int_eq(name_make(&name[0], target, make, &failures), 0);
  ck_assert_int_ge(name[0].slot, 0);
  name_remove(&name[0]);
}
END_TEST

START_TEST(failures) {
  struct name name;
  int failures = 0;
  snprintf(target, sizeof(target), "%s/no/file", dir);
  ck_assert_int_eq(name_make(&name, target, make, &failures), ENOENT);
  ck_assert_str_eq(name.path, "");
  snprintf(target, sizeof(target), "%s/file", dir);
  failures = 0;
  ck_assert_int_eq(name_make(&name, target, make, &failures), 0);
  ck_assert_int_eq(name_move(&name, "/var/tmp/no/such/dir"), ENOENT);
  ck_assert_int_eq(access(name.path, F_OK), 0);
  name_remove(&name);
}
END_TEST

static void expect_resolved(const char *path, const char *want) {
  char got[PATH_MAX];
  ck_assert_int_eq(name_resolve(path, got), 0);
  ck_assert_str_eq(got, want);
}

START_TEST(links_are_followed) {
  char link[PATH_MAX], got[PATH_MAX], want[PATH_MAX];
  ck_assert_int_eq(chdir(dir), 0);
  expect_resolved(target, target);
  snprintf(want, sizeof(want), "%s/file", dir);
  expect_resolved("file", want);
  snprintf(link, sizeof(link), "%s/link", dir);
  ck_assert_int_eq(symlink("file", link), 0);
  expect_resolved(link, want);
  expect_resolved("link", want);
  unlink(link);
  ck_assert_int_eq(symlink("/etc/passwd", link), 0);
  expect_resolved("link", "/etc/passwd");
  unlink(link);
  ck_assert_int_eq(symlink("link", link), 0);
  ck_assert_int_eq(name_resolve("link", got), ELOOP);
  unlink(link);
  ck_assert_int_eq(symlink("/proc/self/fd/0", link), 0);
  expect_resolved("link", "/proc/self/fd/0"); /* an open file, no name */
  unlink(link);
  ck_assert_int_eq(name_resolve("", got), ENOENT);
  char *const much = malloc(PATH_MAX + 1);
  memset(much, 'x', PATH_MAX);
  much[PATH_MAX] = 0;
  ck_assert_int_eq(name_resolve(much, got), ENAMETOOLONG);
  free(much);
}
END_TEST

START_TEST(directories) {
  char got[PATH_MAX];
  name_directory("/a/b/c", got);
  ck_assert_str_eq(got, "/a/b");
  name_directory("/a", got);
  ck_assert_str_eq(got, "/");
}
END_TEST

int main(void) {
  Suite *const s = suite_create("name");
  TCase *const t = tcase_create("name");
  tcase_add_checked_fixture(t, begin, end);
  tcase_add_test(t, names_lie_beside_their_file);
  tcase_add_test(t, long_names_fit);
  tcase_add_test(t, more_names_than_can_be_noted);
  tcase_add_test(t, failures);
  tcase_add_test(t, links_are_followed);
  tcase_add_test(t, directories);
  suite_add_tcase(s, t);
  return check_run(s);
}
