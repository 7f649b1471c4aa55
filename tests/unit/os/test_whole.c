/* Reads and writes that the system does in parts: three bytes at most, and
   every other call is interrupted. Linked with --wrap. */
#define _GNU_SOURCE
#include "os/whole.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"

ssize_t __real_pread(int fd, void *to, size_t n, off_t at);
ssize_t __real_pwrite(int fd, const void *from, size_t n, off_t at);
ssize_t __real_write(int fd, const void *from, size_t n);
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t n, off_t at);
ssize_t __wrap_write(int fd, const void *from, size_t n);

static int file; /* the one for which that holds; Check writes, too */
static int calls;

static bool interrupted(void) {
  errno = EINTR;
  return calls++ % 2 == 0;
}

static size_t part(size_t n) {
  return n < 3 ? n : 3;
}

ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at) {
  return interrupted() ? -1 : __real_pread(fd, to, part(n), at);
}

ssize_t __wrap_pwrite(int fd, const void *from, size_t n, off_t at) {
  return interrupted() ? -1 : __real_pwrite(fd, from, part(n), at);
}

ssize_t __wrap_write(int fd, const void *from, size_t n) {
  if (fd != file) {
    return __real_write(fd, from, n);
  }
  return interrupted() ? -1 : __real_write(fd, from, part(n));
}

static const char text[] = "All that was asked for";
enum { TEXT = sizeof(text) };

static void set_up(void) {
  char path[] = "/tmp/pems-whole.XXXXXX";
  file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  unlink(path);
}

static void tear_down(void) {
  close(file);
}

static void expect_text(off_t at) {
  char got[TEXT] = "";
  ck_assert_int_eq(__real_pread(file, got, TEXT, at), TEXT);
  ck_assert_str_eq(got, text);
}

START_TEST(all_is_written) {
  ck_assert_int_eq(whole_write_at(file, text, TEXT, 1000), 0);
  expect_text(1000);
  ck_assert_int_eq(whole_write(file, text, TEXT), 0);
  expect_text(0);
  ck_assert_int_eq(lseek(file, 0, SEEK_CUR), TEXT);
}
END_TEST

START_TEST(all_is_read) {
  char got[TEXT] = "";
  ck_assert_int_eq(__real_pwrite(file, text, TEXT, 1000), TEXT);
  ck_assert_int_eq(whole_read_at(file, got, TEXT, 1000), 0);
  ck_assert_str_eq(got, text);
}
END_TEST

START_TEST(the_end_of_a_file_is_an_error) {
  char got[TEXT];
  ck_assert_int_eq(__real_pwrite(file, text, TEXT, 0), TEXT);
  ck_assert_int_eq(whole_read_at(file, got, TEXT, 0), 0);
  ck_assert_int_eq(whole_read_at(file, got, TEXT, 1), EIO);
}
END_TEST

START_TEST(nothing_is_done_at_once) {
  ck_assert_int_eq(whole_read_at(-1, NULL, 0, 0), 0);
  ck_assert_int_eq(whole_write_at(-1, NULL, 0, 0), 0);
  ck_assert_int_eq(whole_write(-1, NULL, 0), 0);
  ck_assert_int_eq(calls, 0);
}
END_TEST

START_TEST(errors_are_returned) {
  char got[TEXT];
  tear_down();
  file = open("/dev/full", O_WRONLY);
  ck_assert_int_ge(file, 0);
  ck_assert_int_eq(whole_write(file, text, TEXT), ENOSPC);
  ck_assert_int_eq(whole_write_at(file, text, TEXT, 0), ENOSPC);
  ck_assert_int_eq(whole_read_at(file, got, TEXT, 0), EBADF);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("whole");
  TCase *const all = tcase_create("all");
  tcase_add_checked_fixture(all, set_up, tear_down);
  tcase_add_test(all, all_is_written);
  tcase_add_test(all, all_is_read);
  tcase_add_test(all, the_end_of_a_file_is_an_error);
  tcase_add_test(all, nothing_is_done_at_once);
  tcase_add_test(all, errors_are_returned);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
