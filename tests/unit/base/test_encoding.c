#include "base/encoding.h"

#include <check.h>
#include <string.h>

#include "check_main.h"

static const char *wide(const char *bytes, size_t n) {
  const char *const name = encoding_wide(bytes, n);
  return name ? name : "bytes";
}

#define WIDE(literal) wide(literal, sizeof(literal) - 1)

START_TEST(the_mark_counts_as_a_whole) {
  ck_assert_uint_eq(encoding_mark(ENCODING_MARK "a", 4), 3);
  ck_assert_uint_eq(encoding_mark(ENCODING_MARK, 3), 3);
  ck_assert_uint_eq(encoding_mark(ENCODING_MARK, 2), 0);
  ck_assert_uint_eq(encoding_mark("", 0), 0);
  ck_assert_uint_eq(encoding_mark("a" ENCODING_MARK, 4), 0);
}
END_TEST

START_TEST(wide_texts_have_marks) {
  ck_assert_str_eq(WIDE("\xff\xfe"), "UTF-16LE");
  ck_assert_str_eq(WIDE("\xfe\xff"), "UTF-16BE");
  ck_assert_str_eq(WIDE("\xff\xfe\x3b\x4e"), "UTF-16LE");
  ck_assert_str_eq(WIDE("\xff\xfe\0\0a\0\0\0"), "UTF-32LE");
  ck_assert_str_eq(WIDE("\0\0\xfe\xff\0\0\0a"), "UTF-32BE");
}
END_TEST

START_TEST(or_zeros_in_every_second_place) {
  ck_assert_str_eq(WIDE("a\0,\0"), "UTF-16LE");
  ck_assert_str_eq(WIDE("\0a\0,\0b"), "UTF-16BE");
  ck_assert_str_eq(WIDE("a\0,\0b"), "UTF-16LE"); /* half a unit more */
  char many[2 * ENCODING_ENOUGH];
  memset(many, 'x', sizeof(many));
  for (size_t i = 1; i < ENCODING_ENOUGH; i += 2) {
    many[i] = 0;
  }
  ck_assert_str_eq(wide(many, sizeof(many)), "UTF-16LE");
  many[ENCODING_ENOUGH - 1] = 'x';
  ck_assert_str_eq(wide(many, sizeof(many)), "bytes");
}
END_TEST

START_TEST(all_else_is_bytes) {
  ck_assert_str_eq(WIDE(""), "bytes");
  ck_assert_str_eq(WIDE("a\0"), "bytes");
  ck_assert_str_eq(WIDE("a,b\n"), "bytes");
  ck_assert_str_eq(WIDE("\0\0\0\0"), "bytes");
  ck_assert_str_eq(WIDE("a\0bc"), "bytes");
  ck_assert_str_eq(WIDE(ENCODING_MARK "a,b\n"), "bytes");
}
END_TEST

int main(void) {
  Suite *const s = suite_create("encoding");
  TCase *const t = tcase_create("encoding");
  tcase_add_test(t, the_mark_counts_as_a_whole);
  tcase_add_test(t, wide_texts_have_marks);
  tcase_add_test(t, or_zeros_in_every_second_place);
  tcase_add_test(t, all_else_is_bytes);
  suite_add_tcase(s, t);
  return check_run(s);
}
