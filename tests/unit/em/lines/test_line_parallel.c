/* Parts of a merge in threads of their own give the same lines as one merge. */
#include "em/lines/line_parallel.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

enum { CURSORS = 7, LINES = 20000, LONG = 200000, LIMIT = 4 << 20 };

/* Ascending lines: the i-th of a cursor has the number i * 3 + cursor % 2, so
   that some are in several cursors, and now and then a long tail. */
struct numbers {
  int cursor, i, fail_at;
  unsigned char *string, *line, *before;
  size_t before_n;
};

static struct key_order order;
static struct memory memory;
static struct pems_error error;
static struct numbers numbers[CURSORS];
static struct line_cursor cursor[CURSORS];

static size_t string_of(const struct numbers *n, unsigned char *to) {
  const int x = n->i * 3 + n->cursor % 2;
  const int used = sprintf((char *)to, "number %07d", x);
  const size_t tail = x % 4999 == 0 ? LONG - 50 : (size_t)(x % 5);
  memset(to + used, '.', tail);
  return (size_t)used + tail;
}

static int next(struct line_cursor *c, bool *there, struct pems_error *e) {
  struct numbers *const n = c->of.other;
  if (n->i == n->fail_at) {
    *e = (struct pems_error){.code = EIO, .text = "injected"};
    return EIO;
  }
  *there = n->i < LINES;
  if (!*there) {
    return 0;
  }
  memcpy(n->before, n->string, n->before_n);
  const size_t string_n = string_of(n, n->string);
  const size_t line_n =
      (size_t)sprintf((char *)n->line, "%d of %d", n->i, n->cursor);
  c->common = line_slots_common(n->before, n->before_n, n->string, string_n, 0);
  c->view = order.whole
                ? (struct line_view){n->string, n->string, string_n, string_n}
                : (struct line_view){n->string, n->line, string_n, line_n};
  n->before_n = string_n;
  n->i++;
  return 0;
}

static void setup(bool whole, bool unique) {
  memory_init(&memory, LIMIT);
  key_order_init(&order);
  order.unique = unique;
  if (!whole) {
    ck_assert_int_eq(key_order_add(&order, "1,1", NULL), 0);
  }
  ck_assert_int_eq(key_order_finish(&order, NULL), 0);
  ck_assert_int_eq(order.whole, whole);
  if (!whole) {
    order.ties = KEY_TIES_STAND;
  }
  for (int i = 0; i < CURSORS; i++) {
    numbers[i] = (struct numbers){.cursor = i,
                                  .fail_at = -1,
                                  .string = malloc(LONG),
                                  .before = malloc(LONG),
                                  .line = malloc(LONG)};
    cursor[i] = (struct line_cursor){.next = next};
    cursor[i].of.other = &numbers[i];
  }
}

static void teardown(void) {
  ck_assert_uint_eq(memory.used, 0);
  memory_destroy(&memory);
  for (int i = 0; i < CURSORS; i++) {
    free(numbers[i].string);
    free(numbers[i].before);
    free(numbers[i].line);
  }
}

static uint64_t add(uint64_t sum, const void *bytes, size_t n) {
  const unsigned char *const at = bytes;
  for (size_t i = 0; i < n; i++) {
    sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
  }
  return sum;
}

/* A sum of all lines, in their order, and of what they have in common. */
static uint64_t merge(int threads, bool whole, bool unique, int *lines) {
  struct line_parallel *m;
  const struct line_view *v;
  uint64_t sum = 0;
  size_t common;
  setup(whole, unique);
  ck_assert_int_eq(
      line_parallel_new(&m, &order, cursor, CURSORS, threads, &memory, &error),
      0);
  ck_assert_int_eq(memory.used > 0, threads > 1);
  ck_assert_uint_le(memory.used, line_parallel_memory(threads, LIMIT));
  for (*lines = 0;; ++*lines) {
    ck_assert_int_eq(line_parallel_next(m, &v, &common, &error), 0);
    if (!v) {
      break;
    }
    sum = add(sum, v->string, v->string_n);
    sum = add(sum, v->line, v->line_n);
    sum = add(sum, &common, sizeof(common));
  }
  line_parallel_free(m);
  teardown();
  return sum;
}

START_TEST(lines_are_those_of_one_merge) {
  for (int i = 0; i < 4; i++) {
    const bool whole = i % 2, unique = i / 2;
    int lines;
    const uint64_t sum = merge(1, whole, unique, &lines);
    ck_assert_int_eq(lines, (unique ? 2 : CURSORS) * LINES);
    for (int threads = 2; threads < CURSORS + 3; threads += 2) {
      int same;
      ck_assert_uint_eq(merge(threads, whole, unique, &same), sum);
      ck_assert_int_eq(same, lines);
    }
  }
}
END_TEST

START_TEST(failures_of_a_part_are_told) {
  const struct line_view *v;
  struct line_parallel *m;
  size_t common;
  setup(false, false);
  numbers[5].fail_at = LINES / 2;
  ck_assert_int_eq(
      line_parallel_new(&m, &order, cursor, CURSORS, 3, &memory, &error), 0);
  int failed, lines = -1;
  do {
    lines++;
    failed = line_parallel_next(m, &v, &common, &error);
  } while (!failed && v);
  ck_assert_int_eq(failed, EIO);
  ck_assert_str_eq(error.text, "injected");
  ck_assert_int_ge(lines, LINES / 2);
  line_parallel_free(m);
  teardown();
}
END_TEST

START_TEST(a_failure_at_the_first_line_is_told) {
  struct line_parallel *m;
  setup(false, false);
  numbers[6].fail_at = 0;
  ck_assert_int_eq(
      line_parallel_new(&m, &order, cursor, CURSORS, 2, &memory, &error), EIO);
  ck_assert_ptr_null(m);
  teardown();
}
END_TEST

/* Threads wait for space, or for a long line to be read. */
START_TEST(it_may_be_left_at_any_time) {
  const struct line_view *v;
  struct line_parallel *m;
  size_t common;
  for (int lines = 0; lines < 200; lines += 7) {
    setup(false, false);
    ck_assert_int_eq(
        line_parallel_new(&m, &order, cursor, CURSORS, 4, &memory, &error), 0);
    for (int i = 0; i < lines; i++) {
      ck_assert_int_eq(line_parallel_next(m, &v, &common, &error), 0);
    }
    line_parallel_free(m);
    teardown();
  }
  line_parallel_free(NULL);
}
END_TEST

START_TEST(without_memory_nothing_is_merged_ahead) {
  struct line_parallel *m;
  setup(false, false);
  void *const all = memory_get(&memory, LIMIT - 4096);
  ck_assert_int_eq(
      line_parallel_new(&m, &order, cursor, CURSORS, 4, &memory, &error), 0);
  ck_assert_uint_eq(memory.used, LIMIT - 4096);
  line_parallel_free(m);
  memory_put(&memory, all, LIMIT - 4096);
  teardown();
  ck_assert_uint_eq(line_parallel_memory(1, LIMIT), 0);
  ck_assert_uint_eq(line_parallel_memory(64, 1 << 20), 0);
  ck_assert_uint_le(line_parallel_memory(2, LIMIT), LIMIT / 16);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      lines_are_those_of_one_merge,           failures_of_a_part_are_told,
      a_failure_at_the_first_line_is_told,    it_may_be_left_at_any_time,
      without_memory_nothing_is_merged_ahead, NULL};
  return check_main("line_parallel", tests);
}
