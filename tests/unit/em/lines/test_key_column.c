/* Columns of CSV and TSV: what is in them, and which are there. */
#include "em/lines/key_column.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

static struct key_order order;
static struct key_scratch scratch;

static void setup(bool quotes, int separator) {
  key_order_init(&order);
  order.columns = true;
  order.quotes = quotes;
  order.separator = separator;
}

static void teardown(void) {
  key_scratch_free(&scratch);
}

/* The columns of a line, joined by bars, with a bar behind the last one; by a
   copy of the exact size, so that nothing else is read. */
static void check_line(const char *line, size_t n, const char *wanted) {
  unsigned char *const copy = malloc(n + 1);
  char joined[256] = "";
  memcpy(copy, line, n);
  struct key_columns c = key_columns_of(&order, copy, n);
  size_t count = 0;
  for (; !key_columns_ended(&c); count++) {
    const unsigned char *text;
    size_t text_n;
    ck_assert_int_eq(key_columns_next(&c, &scratch, &text, &text_n), 0);
    strncat(joined, (const char *)text, text_n);
    strcat(joined, "|");
  }
  ck_assert_str_eq(joined, wanted);
  for (size_t i = 0; i <= count; i++) { /* each by leaving others out */
    struct key_columns one = key_columns_of(&order, copy, n);
    key_columns_skip(&one, i);
    ck_assert_int_eq(key_columns_ended(&one), i == count);
  }
  free(copy);
}

static void check_text(const char *line, const char *wanted) {
  check_line(line, strlen(line), wanted);
}

START_TEST(csv) {
  setup(true, ',');
  check_text("", "|");
  check_text("\r", "|");
  check_text("a", "a|");
  check_text("a,b", "a|b|");
  check_text("a,b\r", "a|b|");
  check_text(",", "||");
  check_text(",,x,", "||x||");
  check_text("\"a\"", "a|");
  check_text("\"a,b\nc\",d", "a,b\nc|d|");
  check_text("\"a \"\"b\"\" c\",\"\"", "a \"b\" c||");
  check_text("\"\"\"\"", "\"|");
  check_text("\"\"\"\"\"\",x", "\"\"|x|");
  check_text("\"a\"b,c", "ab|c|");
  check_text("\"a\"\"\"b\"c,d", "a\"b\"c|d|");
  check_text("a\"b,c\"", "a\"b|c\"|");
  check_text(" \"a\",b", " \"a\"|b|");
  check_text("\"a\"\r", "a|");
  check_text("\"open, and no end", "open, and no end|");
}
END_TEST

START_TEST(other_separators) {
  setup(true, ';');
  check_text("a,b;\"c;d\"", "a,b|c;d|");
  setup(false, '\t');
  check_text("\"a\tb\"\t\r", "\"a|b\"||");
}
END_TEST

START_TEST(beyond_the_end) {
  const unsigned char *text;
  size_t n = 7;
  setup(true, ',');
  struct key_columns c =
      key_columns_of(&order, (const unsigned char *)"a,b", 3);
  key_columns_skip(&c, 5);
  ck_assert(key_columns_ended(&c));
  ck_assert_int_eq(key_columns_next(&c, &scratch, &text, &n), 0);
  ck_assert_uint_eq(n, 0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("key_column");
  TCase *const t = tcase_create("key_column");
  tcase_add_checked_fixture(t, NULL, teardown);
  tcase_add_test(t, csv);
  tcase_add_test(t, other_separators);
  tcase_add_test(t, beyond_the_end);
  suite_add_tcase(s, t);
  return check_run(s);
}
