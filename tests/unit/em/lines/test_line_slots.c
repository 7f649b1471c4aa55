/* Strings in memory, against qsort. */
#include "em/lines/line_slots.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

enum { MOST = 20000, BYTES = 4 << 20 };

static unsigned char *text;
static line_slot slot[MOST], wanted[MOST];
static size_t tied;
static struct line_slots strings;

static int by_string(const void *a, const void *b) {
  const line_slot *const x = a, *const y = b;
  const size_t x_n = line_slots_length(&strings, x->index);
  const size_t y_n = line_slots_length(&strings, y->index);
  int order = memcmp(line_slots_at(&strings, x->index),
                     line_slots_at(&strings, y->index), x_n < y_n ? x_n : y_n);
  order = order ? order : (x_n > y_n) - (x_n < y_n);
  if (order) {
    return strings.descending ? -order : order;
  }
  return (x->index > y->index) - (x->index < y->index);
}

static void count_ties(void *arg, line_slot *at, size_t n) {
  (void)arg;
  ck_assert_uint_gt(n, 1);
  for (size_t i = 1; i < n; i++) {
    ck_assert_uint_lt(at[i - 1].index, at[i].index);
  }
  tied += n;
}

static size_t ties_among(size_t n) {
  size_t sum = 0;
  for (size_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n; j++) {
      const size_t a = line_slots_length(&strings, wanted[i].index);
      if (a != line_slots_length(&strings, wanted[j].index) ||
          memcmp(line_slots_at(&strings, wanted[i].index),
                 line_slots_at(&strings, wanted[j].index), a) != 0) {
        break;
      }
    }
    sum += j - i > 1 ? j - i : 0;
  }
  return sum;
}

/* Strings of few letters, zero bytes among them, behind a common prefix. */
static void compare(size_t n, size_t prefix, size_t most, int letters) {
  size_t at = 0;
  strings = (struct line_slots){.base = text, .end = '\n'};
  for (size_t i = 0; i < n; i++) {
    const size_t length = prefix + (size_t)rand() % most;
    memset(text + at, 'p', length);
    for (size_t k = prefix; k < length; k++) {
      text[at + k] = (unsigned char)(rand() % letters);
      text[at + k] += text[at + k] >= '\n';
    }
    text[at + length] = '\n';
    slot[i] = (line_slot){.index = line_slots_place(at, length)};
    at += length + 1;
    ck_assert_uint_lt(at, BYTES - LINE_SPARE);
  }
  for (int descending = 0; descending < 2; descending++) {
    strings.descending = descending;
    memcpy(wanted, slot, n * sizeof(*slot));
    qsort(wanted, n, sizeof(*wanted), by_string);
    tied = 0;
    line_slots_sort(&strings, slot, n, count_ties, NULL);
    for (size_t i = 0; i < n; i++) {
      ck_assert_uint_eq(slot[i].index, wanted[i].index);
    }
    ck_assert_uint_eq(tied, ties_among(n));
  }
}

START_TEST(strings_of_all_kinds) {
  text = malloc(BYTES);
  for (size_t prefix = 0; prefix < 40; prefix += 13) {
    for (int letters = 1; letters < 200; letters *= 3) {
      compare(0, prefix, 5, letters);
      compare(1, prefix, 5, letters);
      compare(2, prefix, 3, letters);
      compare(300, prefix, 30, letters);
      compare(5000, prefix, 12, letters);
    }
  }
  compare(20000, 3, 20, 4);
  free(text);
}
END_TEST

/* Each string is the beginning of the next one: groups within groups. */
START_TEST(deep_strings) {
  enum { N = 1500 };
  size_t at = 0;
  text = malloc(BYTES);
  strings = (struct line_slots){.base = text, .end = '\n'};
  for (size_t i = 0; i < N; i++) {
    memset(text + at, 'x', N + 1);
    text[at + i] = '\n';
    slot[N - 1 - i] = (line_slot){.index = line_slots_place(at, i)};
    at += i + 1;
  }
  line_slots_sort(&strings, slot, N, NULL, NULL);
  for (size_t i = 0; i < N; i++) {
    ck_assert_uint_eq(line_slots_length(&strings, slot[i].index), i);
  }
  free(text);
}
END_TEST

START_TEST(long_strings_are_measured) {
  const size_t n = LINE_LONG + 100;
  unsigned char *const long_text = calloc(1, n + 64);
  struct line_slots s = {.base = long_text, .end = '\n'};
  long_text[n] = '\n';
  ck_assert_uint_eq(line_slots_length(&s, line_slots_place(0, n)), n);
  const struct line_head head = {7, n};
  memcpy(long_text, &head, sizeof(head));
  s.headed = true;
  ck_assert_uint_eq(line_slots_length(&s, line_slots_place(sizeof(head), n)),
                    n);
  ck_assert_uint_eq(line_slots_head(&s, line_slots_place(sizeof(head), n)).line,
                    7);
  free(long_text);
}
END_TEST

START_TEST(common_bytes) {
  static const unsigned char a[] = "abcdefghijklmnopqrstuvw";
  static const unsigned char b[] = "abcdefghijklmnopqrsXuvw";
  ck_assert_uint_eq(line_slots_common(a, 23, b, 23, 0), 19);
  ck_assert_uint_eq(line_slots_common(a, 23, b, 23, 5), 19);
  ck_assert_uint_eq(line_slots_common(a, 10, b, 23, 0), 10);
  ck_assert_uint_eq(line_slots_common(a, 0, b, 23, 0), 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {strings_of_all_kinds, deep_strings,
                                long_strings_are_measured, common_bytes, NULL};
  return check_main("line_slots", tests);
}
