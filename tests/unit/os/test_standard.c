#include "os/standard.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "check_main.h"

/* In libcheck's process for the test, which needs none of the three. */
START_TEST(test_closed_ones_are_occupied) {
  char c = 'x';
  int fd = -1;
  const int saved = dup(STDERR_FILENO);
  for (int i = 0; i < 3; i++) {
    if (_i & 1 << i) {
      close(i);
    }
  }
  standard_occupy();
  bool as_good_as_closed = true;
  for (int i = 0; i < 3; i++) {
    if (_i & 1 << i) {
      as_good_as_closed = as_good_as_closed &&
                          (i == 0 ? read(i, &c, 1) : write(i, &c, 1)) < 0 &&
                          errno == EBADF;
    }
  }
  fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(saved, STDERR_FILENO);
  ck_assert_int_gt(fd, 2);
  ck_assert(as_good_as_closed);
}
END_TEST

START_TEST(test_open_ones_stay) {
  int ends[2];
  char c = 'x';
  ck_assert_int_eq(pipe(ends), 0);
  dup2(ends[0], STDIN_FILENO);
  standard_occupy();
  ck_assert_int_eq(write(ends[1], &c, 1), 1);
  ck_assert_int_eq(read(STDIN_FILENO, &c, 1), 1);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("standard");
  TCase *const t = tcase_create("standard");
  tcase_add_loop_test(t, test_closed_ones_are_occupied, 0, 8);
  tcase_add_test(t, test_open_ones_stay);
  suite_add_tcase(s, t);
  return check_run(s);
}
