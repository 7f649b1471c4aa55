/* What stands for a folder in a path where ld.so looks. */
#include "context/image/search_path.h"

#include <check.h>

#include "check_main.h"

START_TEST(origin_is_expanded) {
  char to[64];
  ck_assert_int_eq(
      search_path_expand("$ORIGIN/../lib:${ORIGIN}", "/opt/x/prog", to, 64), 0);
  ck_assert_str_eq(to, "/opt/x/../lib:/opt/x");
  ck_assert_int_eq(search_path_expand("/usr/$LIB", "/a/b", to, 64), 0);
  ck_assert_str_eq(to, "/usr/$LIB");
  ck_assert_int_eq(search_path_expand("$ORIGIN/lib", "/long/enough/x", to, 8),
                   -1);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {origin_is_expanded, NULL};
  return check_main("search_path", tests);
}
