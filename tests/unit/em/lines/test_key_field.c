/* Where fields are. */
#include "em/lines/key_field.h"

#include <check.h>
#include <string.h>

#include "check_main.h"

/* The field of a line must be `wanted`. */
static void finds(const char *key, int separator, const char *line,
                  const char *wanted) {
  struct key_order o;
  size_t first, last;
  key_order_init(&o);
  o.separator = separator;
  ck_assert_int_eq(key_order_add(&o, key, NULL), 0);
  ck_assert_int_eq(key_order_finish(&o, NULL), 0);
  key_field_find(&o, &o.field[0], (const unsigned char *)line, strlen(line),
                 &first, &last);
  ck_assert_uint_le(first, last);
  ck_assert_uint_le(last, strlen(line));
  ck_assert_msg(last - first == strlen(wanted) &&
                    strncmp(line + first, wanted, last - first) == 0,
                "%s of '%s': '%.*s', not '%s'", key, line, (int)(last - first),
                line + first, wanted);
}

START_TEST(blanks_belong_to_the_word_behind) {
  finds("1", KEY_BLANKS, "a b", "a b");
  finds("2", KEY_BLANKS, "a b", " b");
  finds("2,2", KEY_BLANKS, "a  b c", "  b");
  finds("2b,2", KEY_BLANKS, "a  b c", "b");
  finds("1,1", KEY_BLANKS, " a b", " a");
  finds("3", KEY_BLANKS, "a b", "");
  finds("2", KEY_BLANKS, "", "");
}
END_TEST

START_TEST(separators_belong_to_no_word) {
  finds("1,1", ':', "a:b:c", "a");
  finds("2,2", ':', "a:b:c", "b");
  finds("2", ':', "a:b:c", "b:c");
  finds("2,2", ':', "a::c", "");
  finds("2,3", ':', "a::c:d", ":c");
  finds("4", ':', "a:b:c", "");
  finds("1,1", ':', ":b", "");
  finds("2,2", ':', "a:", "");
}
END_TEST

START_TEST(bytes_count_within_words) {
  finds("2.2,2.3", ':', "a:wxyz:c", "xy");
  finds("1.3", ':', "ab", "");
  finds("1.3,1.1", ':', "abcdef", "");
  finds("2.9,3.1", ':', "a:b:cd", "");
  finds("1.2,2.1", ':', "ab:cd", "b:c");
  finds("2.1b,2.2b", KEY_BLANKS, "a  xyz", "xy");
  finds("1,2.9", ':', "a:b:c", "a:b:c");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {blanks_belong_to_the_word_behind,
                                separators_belong_to_no_word,
                                bytes_count_within_words, NULL};
  return check_main("key_field", tests);
}
