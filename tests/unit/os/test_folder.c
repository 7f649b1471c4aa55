#define _GNU_SOURCE
#include "os/folder.h"

#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_main.h"

static char work[] = "/tmp/pems-folder.XXXXXX";

static const char *at(const char *name) {
  static char path[2][PATH_MAX];
  static int turn;
  turn = !turn;
  snprintf(path[turn], sizeof(path[turn]), "%s/%s", work, name);
  return path[turn];
}

static void make_folder(const char *name) {
  ck_assert_int_eq(mkdir(at(name), 0700), 0);
}

static void make_file(const char *name) {
  const int fd = open(at(name), O_CREAT | O_WRONLY, 0600);
  ck_assert_int_ge(fd, 0);
  close(fd);
}

static bool exists(const char *name) {
  struct stat status;
  return lstat(at(name), &status) == 0;
}

static void set_up(void) {
  ck_assert_ptr_nonnull(mkdtemp(work));
  make_folder("here");
  make_folder("here/below");
  make_file("here/below/file");
  make_file("here/.hidden");
  make_folder("other");
  make_file("other/file");
}

static void tear_down(void) {
  folder_remove(work);
  ck_assert_int_ne(access(work, F_OK), 0);
}

START_TEST(all_that_is_in_it_goes) {
  folder_remove(at("here"));
  ck_assert(!exists("here"));
  ck_assert(exists("other/file"));
}
END_TEST

START_TEST(links_are_not_followed) {
  ck_assert_int_eq(symlink(at("other"), at("here/link")), 0);
  folder_remove(at("here"));
  ck_assert(!exists("here"));
  ck_assert(exists("other/file"));
}
END_TEST

/* Deeper than files may be open. */
START_TEST(deep_ones_go) {
  char name[1024] = "here";
  for (int n = 4; n < 4 + 2 * 100; n += 2) {
    snprintf(name + n, sizeof(name) - (size_t)n, "/d");
    make_folder(name);
  }
  folder_remove(at("here"));
  ck_assert(!exists("here"));
}
END_TEST

START_TEST(what_is_no_folder) {
  folder_remove(at("none"));
  folder_remove(at("other/file"));
  ck_assert(!exists("other/file"));
  ck_assert(exists("other"));
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("folder");
  TCase *const all = tcase_create("all");
  tcase_add_checked_fixture(all, set_up, tear_down);
  tcase_add_test(all, all_that_is_in_it_goes);
  tcase_add_test(all, links_are_not_followed);
  tcase_add_test(all, deep_ones_go);
  tcase_add_test(all, what_is_no_folder);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
