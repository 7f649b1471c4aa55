/* Who finds which names. */
#define _GNU_SOURCE
#include "opened_check.h"

START_TEST(names_are_global_only_for_who_asks) {
  struct opened *o = open_it(0, "libouter.so", RTLD_NOW | RTLD_GLOBAL);
  open_it(1, "libouter.so", RTLD_NOW);
  ck_assert_ptr_eq(find(0, NULL, "where"), find(0, o, "where"));
  ck_assert_ptr_null(
      opened_symbol(&img[1], NULL, RTLD_DEFAULT, "where", NULL, &why));
}
END_TEST

/* RTLD_DEFAULT and RTLD_NEXT, from within a library. */
START_TEST(a_library_finds_what_came_with_it) {
  struct opened *o = open_it(0, "libouter.so", RTLD_NOW);
  const void *const inner = *(int *const *)find(0, o, "at");
  void *const where = find(0, o, "where");
  ck_assert_ptr_eq(
      opened_symbol(&img[0], inner, RTLD_DEFAULT, "where", NULL, &why), where);
  ck_assert_ptr_null(
      opened_symbol(&img[0], inner, RTLD_NEXT, "where", NULL, &why));
  ck_assert_ptr_eq(
      opened_symbol(&img[0], where, RTLD_NEXT, "value", NULL, &why),
      find(0, o, "value"));
  ck_assert_ptr_null(
      opened_symbol(&img[0], where, RTLD_NEXT, "first", NULL, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "undefined symbol: first"));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {names_are_global_only_for_who_asks,
                                a_library_finds_what_came_with_it, NULL};
  return opened_check_main("opened_symbol", tests);
}
