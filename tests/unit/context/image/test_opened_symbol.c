/* Who finds which names. */
#define _GNU_SOURCE
#include "opened_check.h"

START_TEST(names_are_global_only_for_who_asks) {
  struct opened *o = open_it(0, "libouter.so", RTLD_NOW | RTLD_GLOBAL);
  open_it(1, "libouter.so", RTLD_NOW);
  ck_assert_ptr_eq(find(0, RTLD_DEFAULT, "where"), find(0, o, "where"));
  ck_assert_ptr_null(
      opened_symbol(&img[1], NULL, RTLD_DEFAULT, "where", NULL, &why));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {names_are_global_only_for_who_asks, NULL};
  return opened_check_main("opened_symbol", tests);
}
