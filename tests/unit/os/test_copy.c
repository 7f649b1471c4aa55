#include "os/copy.h"

#include <check.h>
#include <string.h>

#include "check_main.h"

START_TEST(copies_so_many_and_no_more) {
  char from[40], to[40];
  for (size_t n = 0; n + 4 <= sizeof(from); n++) {
    for (size_t i = 0; i < sizeof(from); i++) {
      from[i] = (char)(i + 1);
    }
    memset(to, 0, sizeof(to));
    copy_small(to + 1, from + 2, n); /* aligned to nothing */
    ck_assert_int_eq(memcmp(to + 1, from + 2, n), 0);
    ck_assert_int_eq(to[0], 0);
    ck_assert_int_eq(to[n + 1], 0);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {copies_so_many_and_no_more, NULL};
  return check_main("copy", tests);
}
