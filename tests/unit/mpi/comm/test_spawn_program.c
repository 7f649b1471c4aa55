/* Which file a command is: only the program that runs may be spawned. */
#define _GNU_SOURCE
#include "mpi/comm/spawn_program.h"

#include "base/message.h"
#include "check_main.h"

#include <check.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char own[PATH_MAX]; /* this test */
static char dir[] = "/tmp/pems-spawn-XXXXXX";

static void put(const char *name, const char *target) {
  char file[PATH_MAX];
  snprintf(file, sizeof(file), "%s/%s", dir, name);
  ck_assert_int_eq(symlink(target, file), 0);
}

static void start(void) {
  strcpy(dir + strlen(dir) - 6, "XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  ck_assert_ptr_nonnull(realpath("/proc/self/exe", own));
  put("same", own);
  put("other", "/bin/sh");
  put("folder", "/tmp");
  msg_set_speaker(false);
}

static void end(void) {
  static const char *const names[] = {"same", "other", "folder"};
  for (int i = 0; i < 3; i++) {
    char file[PATH_MAX];
    snprintf(file, sizeof(file), "%s/%s", dir, names[i]);
    unlink(file);
  }
  rmdir(dir);
}

static bool is_own(const char *command, const char *path, const char *where) {
  return spawn_program_is_own(command, path, where, "MPI_Comm_spawn");
}

START_TEST(by_its_path_or_a_link_to_it) {
  char file[PATH_MAX];
  ck_assert(is_own(own, NULL, "/"));
  snprintf(file, sizeof(file), "%s/same", dir);
  ck_assert(is_own(file, NULL, "/"));
  ck_assert(is_own(own + 1, NULL, "/"));
}
END_TEST

START_TEST(relative_to_the_directory) {
  ck_assert(is_own("./same", NULL, dir));
  ck_assert(is_own("same", NULL, dir));
  ck_assert(!is_own("same", NULL, "/"));
  ck_assert(!is_own("./same", NULL, "/"));
}
END_TEST

START_TEST(in_the_directories_of_the_key_then_in_the_path) {
  char list[2 * PATH_MAX];
  snprintf(list, sizeof(list), "/nowhere:%s:/usr", dir);
  ck_assert(is_own("same", list, "/"));
  ck_assert(!is_own("same", "/nowhere:", "/"));
  ck_assert(is_own("same", dir + 1, "/")); /* relative to the directory */
  setenv("PATH", list, 1);
  ck_assert(is_own("same", NULL, "/"));
  ck_assert(is_own("same", "/nowhere", "/"));
  unsetenv("PATH");
  ck_assert(!is_own("same", NULL, "/"));
  /* the key's come first */
  setenv("PATH", dir, 1);
  ck_assert(!is_own("sh", "/bin", dir));
}
END_TEST

START_TEST(nothing_else) {
  char file[2 * PATH_MAX];
  ck_assert(!is_own("/bin/sh", NULL, "/"));
  ck_assert(!is_own("./other", NULL, dir));
  ck_assert(!is_own("./folder", NULL, dir));
  ck_assert(!is_own("./none", NULL, dir));
  ck_assert(!is_own("", NULL, dir));
  memset(file, 'x', sizeof(file));
  file[sizeof(file) - 1] = 0;
  ck_assert(!is_own(file, NULL, dir));
}
END_TEST

int main(void) {
  Suite *s = suite_create("spawn_program");
  TCase *t = tcase_create("spawn_program");
  tcase_add_checked_fixture(t, start, end);
  tcase_add_test(t, by_its_path_or_a_link_to_it);
  tcase_add_test(t, relative_to_the_directory);
  tcase_add_test(t, in_the_directories_of_the_key_then_in_the_path);
  tcase_add_test(t, nothing_else);
  suite_add_tcase(s, t);
  return check_run(s);
}
