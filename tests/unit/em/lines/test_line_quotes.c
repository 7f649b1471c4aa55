/* Where lines of CSV end, however the file is read. */
#include "em/lines/line_quotes.h"

#include <check.h>
#include <string.h>

#include "check_main.h"

/* Newlines that end a line are shown as '|'. Read in pieces of each size. */
static void check_turned(const char *text, const char *wanted, uint64_t open) {
  const size_t n = strlen(text);
  for (size_t step = 1; step <= n + 1; step++) {
    struct line_quotes q;
    char copy[128];
    memcpy(copy, text, n + 1);
    line_quotes_begin(&q, ',');
    for (size_t i = 0; i < n; i += step) {
      const size_t some = n - i < step ? n - i : step;
      ck_assert(line_quotes_turn(&q, (unsigned char *)copy + i, some));
    }
    for (size_t i = 0; i < n; i++) {
      copy[i] = copy[i] ? copy[i] : '|';
    }
    ck_assert_str_eq(copy, wanted);
    ck_assert_uint_eq(line_quotes_open(&q), open);
  }
}

START_TEST(ends_of_lines) {
  check_turned("", "", 0);
  check_turned("\n\n", "||", 0);
  check_turned("a,b\nc\n", "a,b|c|", 0);
  check_turned("\"a\nb\"\nc", "\"a\nb\"|c", 0);
  check_turned("x,\"\n\"\"\n\",y\n", "x,\"\n\"\"\n\",y|", 0);
  check_turned("\"\"\n\"\"\"\n\"\n", "\"\"|\"\"\"\n\"|", 0);
  check_turned("a\"b\nc\"\n", "a\"b|c\"|", 0);
  check_turned(" \"b\n\"\n", " \"b|\"\n", 2);
  check_turned("\"a\"b\"\n,\"\n\"", "\"a\"b\"|,\"\n\"", 0);
  check_turned("\"a\r\nb\"\r\nc", "\"a\r\nb\"\r|c", 0);
}
END_TEST

START_TEST(open_quotes) {
  check_turned("a\nb,\"c\nd\n", "a|b,\"c\nd\n", 2);
  check_turned("\"\n\n", "\"\n\n", 1);
  check_turned("\"\"\"", "\"\"\"", 1);
  check_turned("\"", "\"", 1);
}
END_TEST

/* At the beginning of a file the source has taken it away. */
START_TEST(mark_of_utf_8) {
  check_turned("x\n\xef\xbb\xbf\"a\nb\n", "x|\xef\xbb\xbf\"a|b|", 0);
}
END_TEST

START_TEST(zero_bytes) {
  struct line_quotes q;
  unsigned char text[] = "a\nb\n\0c\n";
  line_quotes_begin(&q, ',');
  ck_assert(!line_quotes_turn(&q, text, sizeof(text) - 1));
  ck_assert_uint_eq(q.newlines, 2);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("line_quotes");
  TCase *const t = tcase_create("line_quotes");
  tcase_add_test(t, ends_of_lines);
  tcase_add_test(t, open_quotes);
  tcase_add_test(t, mark_of_utf_8);
  tcase_add_test(t, zero_bytes);
  suite_add_tcase(s, t);
  return check_run(s);
}
