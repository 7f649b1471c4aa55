/* Which files sort(1) reads. */
#define _GNU_SOURCE
#include "wrappers/sort/pems_sort_lines_input.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "check_child.h"
#include "check_main.h"
#include "em/lines/line_source.h"
#include "os/native.h"
#include "wrappers/sort/pems_sort_lines_options.h"

static char dir[] = "/var/tmp/pems-test-input.XXXXXX";
static struct sort_lines_command c;
static const char *from; /* as --files0-from */
static char *argv[3];

static void begin(void) {
  strcpy(strrchr(dir, '.'), ".XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  ck_assert_int_eq(chdir(dir), 0);
}

static void end(void) {
  ck_assert_int_eq(system("rm -f a b names"), 0);
  ck_assert_int_eq(chdir("/"), 0);
  ck_assert_int_eq(rmdir(dir), 0);
}

static void write_file(const char *name, const char *bytes, size_t n) {
  FILE *const f = fopen(name, "w");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
  fclose(f);
}

static void set_arguments(char *first, char *second) {
  argv[0] = first;
  argv[1] = second;
}

static void read_input(void) {
  int n = 0;
  while (argv[n]) {
    n++;
  }
  c.path = native_zalloc((size_t)n + 1, sizeof(*c.path));
  c.paths = 0;
  sort_lines_input(&c, from, n, argv);
}

static void forget(void) {
  native_free(c.path);
  native_free(c.names);
  c = (struct sort_lines_command){0};
}

static void expect(size_t n, const char *first, const char *second) {
  ck_assert_uint_eq(c.sort.paths, n);
  ck_assert_str_eq(c.sort.path[0], first);
  if (second) {
    ck_assert_str_eq(c.sort.path[1], second);
  }
  forget();
}

static void refused(const char *why) {
  char said[512];
  ck_assert_int_eq(check_child_exit(read_input, said, sizeof(said)), MSG_USAGE);
  ck_assert_msg(strstr(said, why) != NULL, "%s", said);
}

START_TEST(files_are_the_arguments) {
  write_file("a", "", 0);
  write_file("b", "", 0);
  set_arguments("a", "b");
  read_input();
  expect(2, "a", "b");
  set_arguments(NULL, NULL);
  read_input();
  expect(1, LINE_STANDARD, NULL);
}
END_TEST

START_TEST(names_come_from_a_file) {
  write_file("a", "", 0);
  write_file("b", "", 0);
  from = "names";
  write_file("names", "a\0b\0", 4);
  read_input();
  expect(2, "a", "b");
  write_file("names", "b\0a", 3); /* the last one without its zero */
  read_input();
  expect(2, "b", "a");
}
END_TEST

/* More than is read at a time. */
START_TEST(names_may_be_many) {
  enum { NAMES = 6000 };
  static char names[2 * NAMES];
  for (int i = 0; i < NAMES; i++) {
    names[2 * i] = i % 2 ? 'b' : 'a';
  }
  write_file("a", "", 0);
  write_file("b", "", 0);
  write_file("names", names, sizeof(names));
  from = "names";
  read_input();
  ck_assert_str_eq(c.sort.path[NAMES - 1], "b");
  expect(NAMES, "a", "b");
}
END_TEST

START_TEST(what_cannot_be_read_is_refused) {
  set_arguments("a", NULL);
  refused("input file: a: No such file");
  set_arguments("+1", NULL);
  refused("key: +1: obsolete form");
  write_file("a", "", 0);
  write_file("b", "", 0);
  set_arguments("a", "b");
  c.check = SORT_CHECK_SAY;
  refused("argument: b: one too many");
}
END_TEST

START_TEST(names_that_are_wrong_are_refused) {
  from = "names";
  refused("--files0-from: names: No such file");
  write_file("names", "", 0);
  refused("--files0-from: names: names no file");
  write_file("a", "", 0);
  write_file("names", "a\0\0", 3);
  refused("--files0-from: names: name 2: empty");
  set_arguments("a", NULL);
  refused("argument: a: beside --files0-from");
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("pems_sort_lines_input");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_checked_fixture(all, begin, end);
  tcase_add_test(all, files_are_the_arguments);
  tcase_add_test(all, names_come_from_a_file);
  tcase_add_test(all, names_may_be_many);
  tcase_add_test(all, what_cannot_be_read_is_refused);
  tcase_add_test(all, names_that_are_wrong_are_refused);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
