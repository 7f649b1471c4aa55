#define _GNU_SOURCE
#include "base/source.h"
#include "base/text.h"
#include "check_main.h"

#include <check.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the linker put what is at p, which was loaded somewhere. */
static int add_base(struct dl_phdr_info *info, size_t size, void *base) {
  (void)size;
  *(uintptr_t *)base = info->dlpi_addr;
  return 1; /* the program comes first */
}

static uintptr_t linked(const void *p) {
  uintptr_t base = 0;
  dl_iterate_phdr(add_base, &base);
  return (uintptr_t)p - base;
}

static __attribute__((noinline)) int some_function(int x) {
  return x * 7 + 1;
}

START_TEST(functions_have_names) {
  char out[100];
  const uintptr_t at = linked((const void *)some_function);
  ck_assert_int_eq(source_function("/proc/self/exe", at, out, sizeof(out)), 0);
  ck_assert_str_eq(out, "some_function+0x0");
  ck_assert_int_eq(source_function("/proc/self/exe", at + 2, out, sizeof(out)),
                   0);
  ck_assert_str_eq(out, "some_function+0x2");
  ck_assert_int_eq(source_function("/proc/self/exe", 1, out, sizeof(out)), -1);
  ck_assert_int_eq(source_function("/none", at, out, sizeof(out)), -1);
  ck_assert_int_eq(some_function(1), 8);
}
END_TEST

START_TEST(other_files_have_none) {
  char path[] = "/tmp/pems-test.XXXXXX", out[100];
  const int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(source_function(path, 1, out, sizeof(out)), -1);
  /* A header, and sections that are not there. */
  static char header[64] = "\177ELF\2\1\1";
  memset(header + 40, 0x7f, 24);
  header[58] = 64, header[59] = 0;
  ck_assert_int_eq(write(fd, header, sizeof(header)), sizeof(header));
  ck_assert_int_eq(source_function(path, 1, out, sizeof(out)), -1);
  close(fd);
  unlink(path);
}
END_TEST

START_TEST(lines_are_told_else_functions_else_addresses) {
  char out[100], expected[100];
  const uintptr_t at = linked((const void *)some_function);
  ck_assert_str_eq(source_line("/none", 0x12, out, sizeof(out)),
                   "address 0x12");
  source_line("/proc/self/exe", at, out, sizeof(out));
  ck_assert(strncmp(out, "some_function+0x", 16) == 0 ||
            strncmp(out, "address 0x", 10) == 0 || strchr(out, ':'));
  /* The caller's /proc/self, not addr2line's. */
  char path[40];
  snprintf(path, sizeof(path), "/proc/%d/exe", (int)getpid());
  ck_assert_int_eq(setenv("PATH", "/nowhere", 1), 0);
  snprintf(expected, sizeof(expected), "some_function+0x1");
  ck_assert_str_eq(source_line(path, at + 1, out, sizeof(out)), expected);
}
END_TEST

START_TEST(text_is_cut) {
  char out[8];
  struct text t = text_in(out, sizeof(out));
  ck_assert_str_eq(out, "");
  text_add(&t, "%d", 12);
  text_add(&t, "%s", "345678");
  text_add(&t, "%s", "9");
  ck_assert_str_eq(out, "1234567");
}
END_TEST

static const char *ranks(const int *rank, int n) {
  static char out[100];
  struct text t = text_in(out, sizeof(out));
  text_ranks(&t, rank, n);
  return out;
}

START_TEST(ranks_are_joined) {
  ck_assert_str_eq(ranks((int[]){3}, 1), "rank 3");
  ck_assert_str_eq(ranks((int[]){3, 3}, 2), "rank 3");
  ck_assert_str_eq(ranks((int[]){0, 1, 2, 3}, 4), "ranks 0-3");
  ck_assert_str_eq(ranks((int[]){0, 2, 3, 3, 4, 9}, 6), "ranks 0, 2-4, 9");
  ck_assert_str_eq(ranks(NULL, 0), "no rank");
}
END_TEST

int main(void) {
  Suite *const s = suite_create("source");
  TCase *const t = tcase_create("source");
  tcase_add_test(t, functions_have_names);
  tcase_add_test(t, other_files_have_none);
  tcase_add_test(t, lines_are_told_else_functions_else_addresses);
  tcase_add_test(t, text_is_cut);
  tcase_add_test(t, ranks_are_joined);
  suite_add_tcase(s, t);
  return check_run(s);
}
