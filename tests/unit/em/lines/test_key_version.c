/* Versions in ascending order must have strings in that order. */
#include "em/lines/key_version.h"

#include <check.h>
#include <string.h>

#include "check_main.h"
#include "key_check.h"

static struct key_check string_of(const char *text) {
  struct key_check c;
  struct key_bytes b = key_check_begin(&c);
  key_version((const unsigned char *)text, strlen(text), &b);
  key_check_end(&c, &b);
  return c;
}

START_TEST(versions_ascend) {
  static const char *const texts[] = {
      "",       ".",          "..",       ".0",          ".122",
      ".A",     ".a0b",       ".b",       "0",           "1.0~a",
      "1.0",    "1.0a",       "1.0+",     "1.1",         "1.10",
      "9",      "10",         "10000000", "99999999999", "a~",
      "a",      "a1.gz",      "a1.tar",   "a1b",         "a2.gz",
      "a10.gz", "a10.tar.gz", "ab",       "a-1",         "b"};
  const size_t n = sizeof(texts) / sizeof(*texts);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      const struct key_check a = string_of(texts[i]), b = string_of(texts[j]);
      const int found = key_check_compare(&a, &b);
      ck_assert_msg((found > 0) - (found < 0) == (i > j) - (i < j),
                    "'%s' and '%s'", texts[i], texts[j]);
    }
  }
}
END_TEST

START_TEST(leading_zeros_do_not_count) {
  const struct key_check a = string_of("a01b"), b = string_of("a1b");
  const struct key_check c = string_of("x"), d = string_of("x00");
  ck_assert_int_eq(key_check_compare(&a, &b), 0);
  ck_assert_int_eq(key_check_compare(&c, &d), 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {versions_ascend, leading_zeros_do_not_count,
                                NULL};
  return check_main("key_version", tests);
}
