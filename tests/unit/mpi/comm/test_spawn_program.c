/* Which file a command is: only the program that runs may be spawned, or the
   interpreter that it runs. */
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
#include <sys/stat.h>
#include <unistd.h>

static char own[PATH_MAX]; /* this test */
static char dir[] = "/tmp/pems-spawn-XXXXXX";
static char script[PATH_MAX]; /* there */

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
  snprintf(script, sizeof(script), "%s/script", dir);
  msg_set_speaker(false);
}

static void end(void) {
  static const char *const names[] = {"same", "other", "folder", "script"};
  for (int i = 0; i < 4; i++) {
    char file[PATH_MAX];
    snprintf(file, sizeof(file), "%s/%s", dir, names[i]);
    unlink(file);
  }
  rmdir(dir);
}

static struct spawn_program found;

/* Of ranks that are no interpreter. */
static bool is_own(const char *command, const char *path, const char *where) {
  const struct spawn_program_search s = {"MPI_Comm_spawn", path, where, NULL,
                                         NULL};
  return spawn_program_find(&found, command, &s) && found.n == 1 &&
         strcmp(found.word[0], command) == 0;
}

/* Of ranks that are the shell. */
static bool is_found(const char *command) {
  const struct spawn_program_search s = {"MPI_Comm_spawn", NULL, dir, "/bin/sh",
                                         "libsh.so"};
  return spawn_program_find(&found, command, &s);
}

static void expect_words(int n, const char *const *words) {
  ck_assert_int_eq(found.n, n);
  for (int i = 0; i < n; i++) {
    ck_assert_str_eq(found.word[i], words[i]);
  }
}

static void write_script(const char *line) {
  FILE *f = fopen(script, "w");
  ck_assert_ptr_nonnull(f);
  ck_assert_int_ge(fputs(line, f), 0);
  fclose(f);
  ck_assert_int_eq(chmod(script, 0700), 0);
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

/* By any of its names, which it may be called by. */
START_TEST(the_interpreter) {
  char other[PATH_MAX + 10];
  snprintf(other, sizeof(other), "%s/./other", dir);
  ck_assert(is_found("/bin/sh"));
  expect_words(3, (const char *[]){"/bin/sh", "libsh.so", "/bin/sh"});
  ck_assert(is_found("./other"));
  expect_words(3, (const char *[]){"./other", "libsh.so", other});
  ck_assert(is_found(own));
  expect_words(1, (const char *[]){own});
  ck_assert(!is_found("/bin/true"));
  ck_assert(!is_own("/bin/sh", NULL, "/"));
}
END_TEST

START_TEST(a_script_for_it) {
  char file[PATH_MAX + 10];
  snprintf(file, sizeof(file), "%s/./script", dir);
  write_script("#!/bin/sh -e\n");
  ck_assert(is_found(script));
  expect_words(5,
               (const char *[]){script, "libsh.so", "/bin/sh", "-e", script});
  ck_assert(!is_own(script, NULL, dir));
  write_script("#!/usr/bin/env -S sh -e -u\n");
  setenv("PATH", "/nowhere:/bin", 1);
  ck_assert(is_found("./script"));
  expect_words(
      6, (const char *[]){"./script", "libsh.so", "/bin/sh", "-e", "-u", file});
}
END_TEST

START_TEST(a_script_for_another) {
  write_script("#!/bin/true\n");
  ck_assert(!is_found(script));
  write_script("#!/nowhere/sh\n");
  ck_assert(!is_found(script));
  write_script("none\n");
  ck_assert(!is_found(script));
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
  tcase_add_test(t, the_interpreter);
  tcase_add_test(t, a_script_for_it);
  tcase_add_test(t, a_script_for_another);
  suite_add_tcase(s, t);
  return check_run(s);
}
