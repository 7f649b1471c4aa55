/* Directories of scratch files. */
#define _GNU_SOURCE
#include "disk/contexts/dirs.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_main.h"
#include "config/machine.h"
#include "disk/contexts/internal.h"

static char dir[64];   /* removed at the end, must then be empty */
static char dirs[256]; /* two below it: a, b */
static struct pems_error error;

static void make_dirs(void) {
  char path[80];
  strcpy(dir, "/var/tmp/test_dirs-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  for (char c = 'a'; c <= 'b'; c++) {
    snprintf(path, sizeof(path), "%s/%c", dir, c);
    ck_assert_int_eq(mkdir(path, 0700), 0);
  }
  snprintf(dirs, sizeof(dirs), "%s/a,%s/b,%s", dir, dir, dir);
}

static void remove_dirs(void) {
  char path[80];
  for (char c = 'a'; c <= 'b'; c++) {
    snprintf(path, sizeof(path), "%s/%c", dir, c);
    ck_assert_int_eq(rmdir(path), 0);
  }
  ck_assert_int_eq(rmdir(dir), 0);
}

START_TEST(commas_are_between_directories) {
  ck_assert_int_eq(disks_named(NULL), 1);
  ck_assert_int_eq(disks_named("/a"), 1);
  ck_assert_int_eq(disks_named("/a,/b,/c"), 3);
}
END_TEST

START_TEST(a_list_is_cut) {
  struct disks *const d = dirs_split("/a,/b,/c/d");
  ck_assert_int_eq(d->count, 3);
  ck_assert_str_eq(d->disk[0].dir, "/a");
  ck_assert_str_eq(d->disk[1].dir, "/b");
  ck_assert_str_eq(d->disk[2].dir, "/c/d");
  dirs_free(d);
}
END_TEST

/* In the name of the default a comma is one. */
START_TEST(the_default_is_not_cut) {
  setenv("TMPDIR", "/a,/b", 1);
  struct disks *const d = dirs_split(NULL);
  ck_assert_int_eq(d->count, 1);
  ck_assert_str_eq(d->disk[0].dir, "/a,/b");
  dirs_free(d);
}
END_TEST

START_TEST(one_file_system_is_one_device) {
  struct disks *const d = dirs_split(dirs);
  uint64_t room[3];
  int device[3];
  ck_assert_int_eq(dirs_check(d, &error), 0);
  dirs_rooms(d, room, device);
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(device[i], 0);
    ck_assert_uint_gt(room[i], 0);
  }
  dirs_free(d);
  ck_assert_uint_eq(dirs_room("/does/not/exist"), 0);
}
END_TEST

/* The first that is wrong is told. */
static void refused(const char *last, int code, const char *why) {
  char list[512], want[512];
  snprintf(list, sizeof(list), "%s/a,%s%s", dir, dir, last);
  snprintf(want, sizeof(want), "scratch directory: %s%s: %s", dir, last, why);
  ck_assert_int_eq(disks_check(list, &error), code);
  ck_assert_msg(strncmp(error.text, want, strlen(want)) == 0, "%s", error.text);
  ck_assert_uint_eq(disks_free(list), 0);
}

START_TEST(directories_are_checked) {
  char path[80];
  ck_assert_int_eq(disks_check(dirs, &error), 0);
  refused("/none", ENOENT, "does not exist: create it or name another");
  snprintf(path, sizeof(path), "%s/a/file", dir);
  const int fd = open(path, O_CREAT | O_WRONLY, 0600);
  ck_assert_int_ge(fd, 0);
  close(fd);
  refused("/a/file", ENOTDIR, "is not a directory: name another");
  unlink(path);
}
END_TEST

START_TEST(files_can_be_made_in_them) {
  const int code = disks_check("/proc", &error);
  ck_assert_int_ne(code, 0);
  ck_assert_ptr_nonnull(strstr(error.text, "/proc"));
}
END_TEST

START_TEST(free_space_of_one_file_system_counts_once) {
  const uint64_t one = machine_disk_free(dir);
  const uint64_t three = disks_free(dirs);
  /* Others use the disk, too. */
  ck_assert_uint_gt(three, one / 2);
  ck_assert_uint_lt(three, one + one / 2);
  ck_assert_uint_eq(disks_free("/does/not/exist"), 0);
  char list[256];
  snprintf(list, sizeof(list), "%s,/no", dir);
  ck_assert_uint_eq(disks_free(list), 0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("dirs");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, make_dirs, remove_dirs);
  tcase_add_test(t, commas_are_between_directories);
  tcase_add_test(t, a_list_is_cut);
  tcase_add_test(t, the_default_is_not_cut);
  tcase_add_test(t, one_file_system_is_one_device);
  tcase_add_test(t, directories_are_checked);
  tcase_add_test(t, files_can_be_made_in_them);
  tcase_add_test(t, free_space_of_one_file_system_counts_once);
  suite_add_tcase(s, t);
  return check_run(s);
}
