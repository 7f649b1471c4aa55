/* Files of lines: sorted within little memory, and what goes wrong. */
#define _GNU_SOURCE
#include "em/lines/line_sort.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"
#include "os/native.h"

enum { LINES = 120000 };

static char from[] = "/tmp/pems-lines-XXXXXX", to[] = "/tmp/pems-out-XXXXXX";
static struct key_order order;
static struct pems_error error;

static void setup(const char *key) {
  close(mkstemp(from));
  close(mkstemp(to));
  FILE *const f = fopen(from, "w");
  uint32_t x = 1;
  for (int i = 0; i < LINES; i++) {
    x = x * 1664525 + 1013904223;
    fprintf(f, "%u line %u\n", x % 50000, x >> 20);
  }
  fclose(f);
  key_order_init(&order);
  if (key) {
    ck_assert_int_eq(key_order_add(&order, key, NULL), 0);
  }
  ck_assert_int_eq(key_order_finish(&order, NULL), 0);
}

static void teardown(void) {
  unlink(from);
  unlink(to);
}

static struct line_sort_options options(const char *const *path) {
  return (struct line_sort_options){.order = &order,
                                    .path = path,
                                    .paths = 1,
                                    .output = to,
                                    .memory = LINE_SORT_LEAST,
                                    .threads = 2,
                                    .scratch = {.io = "mem"}};
}

static void sort_and_check(const char *key, enum line_packing packing) {
  const char *const path[] = {from}, *const result[] = {to};
  struct line_sort_counts counts;
  unsigned char *line;
  uint64_t wrong;
  size_t n;
  setup(key);
  struct line_sort_options o = options(path);
  o.packing = packing;
  ck_assert_msg(line_sort(&o, &counts, &error) == 0, "%s", error.text);
  ck_assert_uint_eq(counts.lines, LINES);
  ck_assert_uint_gt(counts.runs, 1);
  ck_assert_uint_le(counts.memory, LINE_SORT_LEAST);
  o.path = result;
  ck_assert_int_eq(line_sort_check(&o, &wrong, &line, &n, &error), 0);
  ck_assert_uint_eq(wrong, 0);
  o.path = path;
  ck_assert_int_eq(line_sort_check(&o, &wrong, &line, &n, &error), 0);
  ck_assert_uint_gt(wrong, 1);
  native_free(line);
  teardown();
}

START_TEST(lines_are_sorted) {
  sort_and_check(NULL, LINE_PACKING_NONE);
}
END_TEST

START_TEST(fields_are_sorted) {
  sort_and_check("1n,1", LINE_PACKING_AUTO);
}
END_TEST

START_TEST(failures_are_told) {
  const char *const missing[] = {"/nowhere/x"};
  const char *const path[] = {from};
  setup(NULL);
  struct line_sort_options o = options(missing);
  ck_assert_int_eq(line_sort(&o, NULL, &error), ENOENT);
  o = options(path);
  o.output = "/nowhere/x";
  ck_assert_int_eq(line_sort(&o, NULL, &error), ENOENT);
  o = options(path);
  o.scratch.io = "floppy";
  ck_assert_int_eq(line_sort(&o, NULL, &error), EINVAL);
  const int fd = open(from, O_WRONLY | O_TRUNC);
  ck_assert_int_eq(ftruncate(fd, 2 << 20), 0); /* one line of zeros */
  close(fd);
  o = options(path);
  ck_assert_int_eq(line_sort(&o, NULL, &error), EFBIG);
  ck_assert(strstr(error.text, "give more memory") != NULL);
  teardown();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {lines_are_sorted, fields_are_sorted,
                                failures_are_told, NULL};
  return check_main("line_sort", tests);
}
