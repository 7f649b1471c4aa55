/* Strings of several fields, against comparing field by field. */
#include "em/lines/key_encode.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "em/lines/key_field.h"
#include "key_check.h"

static struct key_order order;
static struct key_scratch scratch;

static void keys(const char *const *key) {
  key_order_init(&order);
  order.separator = ':';
  for (; *key; key++) {
    ck_assert_int_eq(key_order_add(&order, *key, NULL), 0);
  }
  ck_assert_int_eq(key_order_finish(&order, NULL), 0);
}

static int compare(const char *a, size_t a_n, const char *b, size_t b_n) {
  struct key_check x, y;
  struct key_bytes out = key_check_begin(&x);
  ck_assert_int_eq(
      key_encode(&order, (const unsigned char *)a, a_n, &scratch, &out), 0);
  key_check_end(&x, &out);
  out = key_check_begin(&y);
  ck_assert_int_eq(
      key_encode(&order, (const unsigned char *)b, b_n, &scratch, &out), 0);
  key_check_end(&y, &out);
  const size_t n = x.n < y.n ? x.n : y.n;
  const int found = memcmp(x.bytes, y.bytes, n);
  return found ? found : (x.n > y.n) - (x.n < y.n);
}

static void before(const char *a, const char *b) {
  ck_assert_msg(compare(a, strlen(a), b, strlen(b)) < 0, "'%s', '%s'", a, b);
  ck_assert_msg(compare(b, strlen(b), a, strlen(a)) > 0, "'%s', '%s'", a, b);
}

START_TEST(a_text_ends_before_the_next_field) {
  keys((const char *const[]){"1,1", "2,2", NULL});
  before("a:z", "ab:a");
  before("a:a", "a:b");
  before(":z", "a:a");
  ck_assert_int_lt(compare("a\0:b", 4, "a\0\0:a", 5), 0);
  ck_assert_int_lt(compare("a:b", 3, "a\0:a", 4), 0);
  ck_assert_int_gt(compare("a\001:a", 4, "a\0b:a", 5), 0);
}
END_TEST

START_TEST(fields_are_reversed_one_by_one) {
  keys((const char *const[]){"1,1r", "2,2n", NULL});
  before("ab:1", "a:0");
  before("b:9", "a:1");
  before("a:9", "a:10");
  keys((const char *const[]){"1,1n", "2,2r", NULL});
  before("1:b", "1:a");
  before("1:ab", "1:a");
  before("-2:a", "1:b");
}
END_TEST

START_TEST(texts_are_changed_as_asked) {
  keys((const char *const[]){"1,1f", "2,2d", NULL});
  before("a:x", "B:x");
  ck_assert_int_eq(compare("a:x-y", 5, "A:xy", 4), 0);
}
END_TEST

START_TEST(months_and_hashes) {
  keys((const char *const[]){"1,1M", "2,2", NULL});
  before("x:9", " jan:1");
  before("NOV:9", "december:1");
  ck_assert_int_eq(compare("y:1", 3, "x:1", 3), 0);
  keys((const char *const[]){"1,1R", NULL});
  ck_assert_int_eq(compare("same:1", 6, "same:2", 6), 0);
  ck_assert_int_ne(compare("same:1", 6, "some:2", 6), 0);
}
END_TEST

START_TEST(ties_are_decided_by_lines) {
  const unsigned char *const a = (const unsigned char *)"a";
  const unsigned char *const ab = (const unsigned char *)"ab";
  keys((const char *const[]){"2", NULL});
  ck_assert_int_lt(key_compare_ties(&order, a, 1, ab, 2), 0);
  order.ties_reverse = true;
  ck_assert_int_gt(key_compare_ties(&order, a, 1, ab, 2), 0);
  order.ties = KEY_TIES_STAND;
  ck_assert_int_eq(key_compare_ties(&order, a, 1, ab, 2), 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      a_text_ends_before_the_next_field, fields_are_reversed_one_by_one,
      texts_are_changed_as_asked,        months_and_hashes,
      ties_are_decided_by_lines,         NULL};
  return check_main("key_encode", tests);
}
