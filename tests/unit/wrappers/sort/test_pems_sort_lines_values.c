/* Values of options of sort(1), and what is none. */
#include "wrappers/sort/pems_sort_lines_values.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "check_child.h"
#include "check_main.h"

enum { KIB = 1024 };

static const char *wrong; /* what the child is to read */

/* It ends with MSG_USAGE and a line that says `why`. */
static void refused(void (*read)(void), const char *text, const char *why) {
  char said[512];
  wrong = text;
  ck_assert_int_eq(check_child_exit(read, said, sizeof(said)), MSG_USAGE);
  ck_assert_msg(strstr(said, why) != NULL, "%s: %s", text, said);
  ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
}

static void read_number(void) {
  sort_value_number("batch-size", wrong, 2, 100);
}

START_TEST(numbers_are_within_bounds) {
  ck_assert_uint_eq(sort_value_number("n", "7", 1, 10), 7);
  ck_assert_uint_eq(sort_value_number("n", "11", 1, 10), 10);
  ck_assert_uint_eq(sort_value_number("n", "99999999999999999999", 1, 10), 10);
  refused(read_number, "1", "--batch-size: 1: give a number from 2 to 100");
  refused(read_number, "", "--batch-size: ");
  refused(read_number, "-5", "--batch-size: -5: ");
  refused(read_number, " 5", "--batch-size: ");
  refused(read_number, "5x", "--batch-size: 5x: ");
}
END_TEST

static void read_buffer_size(void) {
  sort_value_buffer_size(wrong);
}

START_TEST(buffers_are_in_kibibytes_or_units) {
  const uint64_t all =
      (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  ck_assert_uint_eq(sort_value_buffer_size("3"), 3 * KIB);
  ck_assert_uint_eq(sort_value_buffer_size("3b"), 3);
  ck_assert_uint_eq(sort_value_buffer_size("3k"), 3 * KIB);
  ck_assert_uint_eq(sort_value_buffer_size("3M"), 3 * KIB * KIB);
  ck_assert_uint_eq(sort_value_buffer_size("9999Y"), UINT64_C(1) << 38);
  const uint64_t half = sort_value_buffer_size("50%");
  ck_assert_uint_ge(half, all / 2 - KIB);
  ck_assert_uint_le(half, all / 2 + KIB);
  refused(read_buffer_size, "3Q", "-S: 3Q: give a size");
  refused(read_buffer_size, "3Mb", "-S: 3Mb: ");
  refused(read_buffer_size, "M", "-S: M: ");
}
END_TEST

static void read_memory(void) {
  sort_value_memory(wrong);
}

START_TEST(memory_is_in_bytes_or_units) {
  ck_assert_uint_eq(sort_value_memory("4096"), 4096);
  ck_assert_uint_eq(sort_value_memory("1.5K"), 3 * KIB / 2);
  refused(read_memory, "0", "--memory: 0: give a size");
  refused(read_memory, "much", "--memory: much: ");
}
END_TEST

static void read_separator(void) {
  sort_value_separator(wrong, KEY_BLANKS);
}

static void read_another_separator(void) {
  sort_value_separator(wrong, ',');
}

START_TEST(a_separator_is_one_byte) {
  ck_assert_int_eq(sort_value_separator(";", KEY_BLANKS), ';');
  ck_assert_int_eq(sort_value_separator(";", ';'), ';');
  ck_assert_int_eq(sort_value_separator("\\0", KEY_BLANKS), 0);
  ck_assert_int_eq(sort_value_separator("\xff", KEY_BLANKS), 0xff);
  refused(read_separator, "", "-t: empty: ");
  refused(read_separator, "ab", "-t: ab: more than one byte: ");
  refused(read_another_separator, ";", "-t: ;: another one was given before");
}
END_TEST

static void read_order(void) {
  struct key_order o;
  key_order_init(&o);
  sort_value_order(&o, wrong);
}

/* By the letter, and by a word that means the same. */
static bool same_order(const char *word, char letter) {
  struct key_order a, b;
  memset(&a, 0, sizeof(a));
  memset(&b, 0, sizeof(b));
  key_order_init(&a);
  key_order_init(&b);
  sort_value_order(&a, word);
  key_field_letter(&b.all, letter, false);
  return memcmp(&a.all, &b.all, sizeof(a.all)) == 0;
}

START_TEST(an_order_is_a_word_or_its_beginning) {
  ck_assert(same_order("numeric", 'n'));
  ck_assert(same_order("n", 'n'));
  ck_assert(same_order("gen", 'g'));
  ck_assert(same_order("month", 'M'));
  ck_assert(!same_order("version", 'n'));
  refused(read_order, "", "--sort: : unknown");
  refused(read_order, "size", "--sort: size: unknown");
}
END_TEST

static void read_check(void) {
  sort_value_check('c', wrong);
}

START_TEST(a_check_says_or_is_quiet) {
  ck_assert_int_eq(sort_value_check('C', NULL), SORT_CHECK_QUIET);
  ck_assert_int_eq(sort_value_check('c', NULL), SORT_CHECK_SAY);
  ck_assert_int_eq(sort_value_check('c', "quiet"), SORT_CHECK_QUIET);
  ck_assert_int_eq(sort_value_check('c', "silent"), SORT_CHECK_QUIET);
  ck_assert_int_eq(sort_value_check('c', "diagnose-first"), SORT_CHECK_SAY);
  refused(read_check, "loud", "--check: loud: unknown");
}
END_TEST

static void read_packing(void) {
  sort_value_packing(wrong);
}

START_TEST(packing_is_what_pems_was_built_with) {
  ck_assert_int_eq(sort_value_packing("auto"), LINE_PACKING_AUTO);
  ck_assert_int_eq(sort_value_packing("none"), LINE_PACKING_NONE);
  if (line_codec_there(LINE_CODEC_LZ4)) {
    ck_assert_int_eq(sort_value_packing("lz4"), LINE_PACKING_LZ4);
  } else {
    refused(read_packing, "lz4", "pems was built without it");
  }
  refused(read_packing, "gzip", "--compress-program: gzip: give auto");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      numbers_are_within_bounds,           buffers_are_in_kibibytes_or_units,
      memory_is_in_bytes_or_units,         a_separator_is_one_byte,
      an_order_is_a_word_or_its_beginning, a_check_says_or_is_quiet,
      packing_is_what_pems_was_built_with, NULL};
  return check_main("pems_sort_lines_values", tests);
}
