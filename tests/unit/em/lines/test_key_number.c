/* Numbers in ascending order must have strings in that order. */
#include "em/lines/key_number.h"

#include <check.h>
#include <string.h>

#include "check_main.h"
#include "key_check.h"

typedef void make_fn(const struct key_order *o, const unsigned char *text,
                     size_t n, struct key_bytes *out);

static struct key_order order;

static void setup(void) {
  key_order_init(&order);
  ck_assert_int_eq(key_order_finish(&order, NULL), 0);
}

static struct key_check string_of(make_fn *make, const char *text) {
  struct key_check c;
  struct key_bytes b = key_check_begin(&c);
  make(&order, (const unsigned char *)text, strlen(text), &b);
  key_check_end(&c, &b);
  return c;
}

/* Each line of `texts` is smaller than the next one; what a bar separates is
   equal. */
static void ascend(make_fn *make, const char *const *texts, size_t n) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      const struct key_check a = string_of(make, texts[i]);
      const struct key_check b = string_of(make, texts[j]);
      const int found = key_check_compare(&a, &b);
      ck_assert_msg((found > 0) - (found < 0) == (i > j) - (i < j),
                    "'%s' and '%s'", texts[i], texts[j]);
    }
  }
}

static void equal(make_fn *make, const char *a, const char *b) {
  const struct key_check x = string_of(make, a), y = string_of(make, b);
  ck_assert_msg(key_check_compare(&x, &y) == 0, "'%s' and '%s'", a, b);
}

static char large[300], larger[300];

START_TEST(plain_numbers) {
  setup();
  memset(large, '9', 200);
  memset(larger, '0', 201);
  larger[0] = '1';
  const char *const texts[] = {"-100", "-99.5", "-99.45", "-1", "-0.5", "-.05",
                               "0",    ".05",   "0.5",    "1",  "1.01", "1.1",
                               "1.11", "2",     "9",      "10", "10.5", "100",
                               "1000", large,   larger};
  ascend(key_number_plain, texts, sizeof(texts) / sizeof(*texts));
  equal(key_number_plain, "", "-0");
  equal(key_number_plain, "x", "0.000");
  equal(key_number_plain, "007", "7.");
  equal(key_number_plain, " \t1", "1.0x");
  equal(key_number_plain, "- 1", "0");
  equal(key_number_plain, "+1", "0");
}
END_TEST

START_TEST(separators_of_thousands) {
  setup();
  equal(key_number_plain, "1,000", "1");
  order.thousands = ',';
  equal(key_number_plain, "1,000", "1000");
  equal(key_number_plain, "1,000.5,1", "1000.5");
}
END_TEST

START_TEST(units) {
  setup();
  const char *const texts[] = {
      "-1G",  "-2M", "-1M", "-1K", "-1023", "-1", "0",  "1",  "1e", "2", "1023",
      "0.5K", "1K",  "2k",  "1M",  "1G",    "1T", "1P", "1E", "1Z", "1Y"};
  const char *without[sizeof(texts) / sizeof(*texts)];
  size_t n = 0;
  for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
    if (strcmp(texts[i], "1e") != 0) {
      without[n++] = texts[i];
    }
  }
  ascend(key_number_human, without, n);
  equal(key_number_human, "1e", "1");
  equal(key_number_human, "0K", "0");
  equal(key_number_human, "1.5.K", "1.5");
}
END_TEST

START_TEST(floating_numbers) {
  setup();
  const char *const texts[] = {"x",
                               "nan",
                               "-inf",
                               "-1e400",
                               "-1e10",
                               "-1",
                               "-1e-10",
                               "0",
                               "1e-99",
                               "0.1",
                               "0x1p-1",
                               "1",
                               "1.5",
                               "10",
                               "1.1e1",
                               "1e10",
                               "1e11",
                               "1e400",
                               "9999999999e4000",
                               "inf"};
  ascend(key_number_general, texts, sizeof(texts) / sizeof(*texts));
  equal(key_number_general, "", "y");
  equal(key_number_general, "-0", "0");
  equal(key_number_general, " 0.1", "1e-1x");
  equal(key_number_general, "0.3", "3e-1");
  equal(key_number_general, "123.456", "0x1.edd2f1a9fbe76c8bp+6");
}
END_TEST

START_TEST(what_has_no_room_is_noted) {
  unsigned char few[2];
  struct key_bytes b = {few, few + sizeof(few), false};
  setup();
  key_number_plain(&order, (const unsigned char *)"12345", 5, &b);
  ck_assert(b.full);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      plain_numbers,    separators_of_thousands,   units,
      floating_numbers, what_has_no_room_is_noted, NULL};
  return check_main("key_number", tests);
}
