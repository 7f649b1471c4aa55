/* What users write as keys, and what follows from it. */
#include "em/lines/key_order.h"

#include <check.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "check_main.h"

static struct key_order order;
static struct pems_error error;

static const struct key_field *add(const char *text) {
  key_order_init(&order);
  ck_assert_msg(key_order_add(&order, text, &error) == 0, "%s", error.text);
  return &order.field[0];
}

START_TEST(fields_count_from_one) {
  const struct key_field *f = add("2.3,4.5");
  ck_assert_uint_eq(f->first_word, 1);
  ck_assert_uint_eq(f->first_byte, 2);
  ck_assert_uint_eq(f->last_word, 3);
  ck_assert_uint_eq(f->last_byte, 5);
  f = add("7");
  ck_assert_uint_eq(f->first_word, 6);
  ck_assert(f->last_word == KEY_LINE_END);
  f = add("99999999999999999999999,3.0");
  ck_assert(f->first_word >= SIZE_MAX - 2);
  ck_assert_uint_eq(f->last_byte, 0);
}
END_TEST

START_TEST(options_are_letters) {
  const struct key_field *f = add("1bfr,2b");
  ck_assert(f->first_blanks && f->last_blanks && f->fold && f->reverse);
  f = add("1,2b");
  ck_assert(!f->first_blanks && f->last_blanks);
  ck_assert_uint_eq(add("1n")->kinds, KEY_NUMERIC);
  ck_assert_uint_eq(add("1,1V")->kinds, KEY_VERSION);
  ck_assert(add("1di")->ignore == KEY_IGNORE_DICTIONARY);
}
END_TEST

START_TEST(nonsense_is_refused) {
  static const char *const bad[] = {"",    "0",    "1.0", "x",    "1,",  "1,0",
                                    "1.x", "1,2.", "1q",  "1,2q", "1 2", "-1"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    key_order_init(&order);
    ck_assert_int_eq(key_order_add(&order, bad[i], &error), EINVAL);
    ck_assert(strncmp(error.text, "key: ", 5) == 0);
  }
  key_order_init(&order);
  for (int i = 0; i < KEY_MOST_FIELDS; i++) {
    ck_assert_int_eq(key_order_add(&order, "1", NULL), 0);
  }
  ck_assert_int_eq(key_order_add(&order, "1", &error), EINVAL);
}
END_TEST

static int finish(const char *key, const char *all) {
  key_order_init(&order);
  for (; *all; all++) {
    ck_assert(key_field_letter(&order.all, *all, false));
  }
  if (*key) {
    ck_assert_int_eq(key_order_add(&order, key, &error), 0);
  }
  return key_order_finish(&order, &error);
}

START_TEST(fields_inherit_unless_they_have_options) {
  ck_assert_int_eq(finish("2", "nr"), 0);
  ck_assert_uint_eq(order.field[0].kinds, KEY_NUMERIC);
  ck_assert(order.descending && order.ties_reverse);
  ck_assert_int_eq(finish("2g", "nr"), 0);
  ck_assert_uint_eq(order.field[0].kinds, KEY_GENERAL);
  ck_assert(!order.descending && order.ties_reverse);
  ck_assert_int_eq(finish("2b", "f"), 0);
  ck_assert(!order.field[0].fold);
}
END_TEST

START_TEST(the_string_is_the_line_where_nothing_changes_it) {
  ck_assert_int_eq(finish("", ""), 0);
  ck_assert(order.whole && order.ties == KEY_TIES_STAND);
  ck_assert_int_eq(finish("", "r"), 0);
  ck_assert(order.whole && order.descending);
  ck_assert_int_eq(finish("2", ""), 0);
  ck_assert(!order.whole && order.ties == KEY_TIES_BYTES);
  ck_assert_int_eq(finish("", "f"), 0);
  ck_assert(!order.whole && order.ties == KEY_TIES_BYTES);
}
END_TEST

START_TEST(options_that_contradict_are_refused) {
  ck_assert_int_eq(finish("1nM", ""), EINVAL);
  ck_assert_int_eq(finish("1dn", ""), EINVAL);
  ck_assert_int_eq(finish("1,1", "gh"), EINVAL);
  ck_assert_int_eq(finish("1dV", ""), 0);
  ck_assert(!key_field_letter(&order.all, 'q', false));
  ck_assert(!key_field_letter(&order.all, '\0', false));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {fields_count_from_one,
                                options_are_letters,
                                nonsense_is_refused,
                                fields_inherit_unless_they_have_options,
                                the_string_is_the_line_where_nothing_changes_it,
                                options_that_contradict_are_refused,
                                NULL};
  return check_main("key_order", tests);
}
