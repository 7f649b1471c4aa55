/* What a script's first line names. */
#include "base/script.h"

#include "check_main.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct script script;

static bool is_script(const char *line) {
  char path[] = "/tmp/pems-script-XXXXXX";
  const int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(write(fd, line, strlen(line)), (ssize_t)strlen(line));
  close(fd);
  const bool is = script_read(&script, path);
  unlink(path);
  return is;
}

/* n words, the last two of which are given. */
static void expect(const char *line, int n, const char *first,
                   const char *last) {
  ck_assert_msg(is_script(line), "%s", line);
  ck_assert_str_eq(script.word[0], first);
  ck_assert_str_eq(script.word[n - 1], last);
  ck_assert_ptr_null(script.word[n]);
}

START_TEST(an_interpreter) {
  expect("#!/bin/sh\nsecond\n", 1, "/bin/sh", "/bin/sh");
  expect("#! \t/bin/sh \r\n", 1, "/bin/sh", "/bin/sh");
  expect("#!/bin/sh", 1, "/bin/sh", "/bin/sh");
}
END_TEST

/* To the kernel all of it is one. */
START_TEST(its_argument) {
  expect("#!/usr/bin/python3 -u\n", 2, "/usr/bin/python3", "-u");
  expect("#!/usr/bin/python3  -u -W error \n", 2, "/usr/bin/python3",
         "-u -W error");
}
END_TEST

START_TEST(by_env) {
  expect("#!/usr/bin/env python3\n", 1, "python3", "python3");
  expect("#!/usr/bin/env python3 -u\n", 1, "python3 -u", "python3 -u");
  expect("#!/usr/bin/env -S python3 -u\t-I\n", 3, "python3", "-I");
  expect("#!/usr/bin/env -Spython3 -u\n", 2, "python3", "-u");
}
END_TEST

/* Nor is what was read before. */
START_TEST(none) {
  ck_assert(is_script("#!/bin/sh\n"));
  ck_assert(!is_script(""));
  ck_assert(!is_script("# /bin/sh\n"));
  ck_assert(!is_script("#!\n/bin/sh\n"));
  ck_assert(!is_script("#! \t\n"));
  ck_assert(!is_script("#!/usr/bin/env\n"));
  ck_assert(!is_script("#!/usr/bin/env -i python3\n"));
  ck_assert(!is_script("#!/usr/bin/env -S\n"));
  ck_assert(is_script("#!/bin/sh\n"));
  ck_assert(!script_read(&script, "/nowhere/at/all"));
}
END_TEST

START_TEST(too_many_words) {
  char line[200] = "#!/usr/bin/env -S";
  for (int i = 0; i < SCRIPT_WORDS; i++) {
    strcat(line, " w");
  }
  expect(line, SCRIPT_WORDS, "w", "w");
  strcat(line, " w");
  ck_assert(!is_script(line));
}
END_TEST

/* The kernel reads 255 bytes. */
START_TEST(a_long_line) {
  char line[300], path[240] = "/";
  memset(path + 1, 'p', sizeof(path) - 2);
  snprintf(line, sizeof(line), "#!%s -u\n", path);
  expect(line, 2, path, "-u");
}
END_TEST

START_TEST(shorter_than_the_former) {
  expect("#!/usr/bin/env -S python3 -u -I -B\n", 4, "python3", "-B");
  expect("#!/usr/bin/env python3\n", 1, "python3", "python3");
  expect("#!/usr/bin/env -S python3 -u -I -B\n", 4, "python3", "-B");
  expect("#!/usr/bin/python3 -u\n", 2, "/usr/bin/python3", "-u");
}
END_TEST

int main(void) {
  Suite *s = suite_create("script");
  TCase *t = tcase_create("script");
  tcase_add_test(t, an_interpreter);
  tcase_add_test(t, its_argument);
  tcase_add_test(t, by_env);
  tcase_add_test(t, none);
  tcase_add_test(t, too_many_words);
  tcase_add_test(t, a_long_line);
  tcase_add_test(t, shorter_than_the_former);
  suite_add_tcase(s, t);
  return check_run(s);
}
