/* What copies of a program open and close. */
#define _GNU_SOURCE
#include "opened_check.h"

START_TEST(each_copy_has_what_it_opens_for_itself) {
  int *value[2];
  for (int i = 0; i < 2; i++) {
    struct opened *o = open_it(i, "libouter.so", RTLD_NOW);
    ck_assert_msg(o != NULL, "%s", why.text);
    value[i] = call(i, o, "where");
    ck_assert_ptr_eq(value[i], find(i, o, "value"));
    ck_assert_ptr_eq(call(i, o, "by_thread"), value[i]);
    ck_assert_int_eq(*value[i], 6);          /* constructed once, */
    ck_assert_int_eq(*call(i, o, "own"), 2); /* in the VP's own data, */
    int (*first)(void) = (int (*)(void))find(i, o, "first");
    ck_assert_int_eq(first(), 6); /* before who needs it */
    *value[i] = 100 + i;
  }
  ck_assert_ptr_ne(value[0], value[1]);
  ck_assert_int_eq(*value[0], 100);
  ck_assert_int_eq(*value[1], 101);
}
END_TEST

START_TEST(handles_are_counted) {
  struct opened *o = open_it(0, "libouter.so", RTLD_NOW);
  const void *const handle = opened_handle(&img[0], o);
  ck_assert_ptr_eq(open_it(0, "libouter.so", RTLD_LAZY), o);
  *call(0, o, "where") = 50;
  close_it(0, o);
  ck_assert_ptr_eq(open_it(0, "libouter.so", RTLD_NOW | RTLD_NOLOAD), o);
  close_it(0, o);
  ck_assert_int_eq(*call(0, o, "where"), 50);
  close_it(0, o);
  ck_assert_ptr_null(open_it(0, "libouter.so", RTLD_NOW | RTLD_NOLOAD));
  ck_assert_ptr_null(open_it(0, "libinner.so", RTLD_NOW | RTLD_NOLOAD));
  ck_assert_int_eq(opened_close(&img[0], handle, &why), -1);
  o = open_it(0, "libouter.so", RTLD_NOW);
  ck_assert_int_eq(*call(0, o, "where"), 6); /* anew */
}
END_TEST

START_TEST(what_another_needs_stays) {
  struct opened *inner = open_it(0, "libinner.so", RTLD_NOW);
  int *value = find(0, inner, "value");
  struct opened *outer = open_it(0, "libouter.so", RTLD_NOW);
  close_it(0, inner);
  ck_assert_int_eq(*value, 6);
  ck_assert_ptr_eq(call(0, outer, "where"), value);
}
END_TEST

START_TEST(failures_have_a_reason) {
  ck_assert_ptr_null(open_it(0, "libnone.so", RTLD_NOW));
  ck_assert_ptr_nonnull(strstr(why.text, "cannot open shared object file"));
  ck_assert_ptr_null(open_it(0, "libouter.so", 0));
  ck_assert_ptr_nonnull(strstr(why.text, "invalid mode"));
  ck_assert_ptr_null(open_it(0, "outer.c", RTLD_NOW));
  ck_assert(why.text[0]);
  ck_assert_ptr_null(open_it(0, "libmissing.so", RTLD_NOW));
  ck_assert_ptr_nonnull(strstr(why.text, "undefined symbol: none"));
  struct opened *o = open_it(0, "libmissing.so", RTLD_LAZY);
  ck_assert_msg(o != NULL, "%s", why.text);
  ck_assert_ptr_null(
      opened_symbol(&img[0], NULL, opened_handle(&img[0], o), "g", NULL, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "undefined symbol: g"));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {each_copy_has_what_it_opens_for_itself,
                                handles_are_counted, what_another_needs_stays,
                                failures_have_a_reason, NULL};
  return opened_check_main("opened", tests);
}
