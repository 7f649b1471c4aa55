/* Sets of addresses against a bitmap. */
#define _GNU_SOURCE
#include "base/ranges.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "check_main.h"
#include "os/native.h"

enum { SPACE = 300, STEPS = 20000, BASE = 1 << 20 };

static struct ranges r;
static bool model[SPACE + 1]; /* the last is never in the set */
static unsigned state;

static unsigned below(unsigned n) {
  state = state * 1103515245 + 12345;
  return (state >> 8) % n;
}

static void clear(void) {
  r = (struct ranges){0};
  memset(model, 0, sizeof(model));
  state = 1;
}

static void drop(void) {
  ranges_free(&r);
  ck_assert_ptr_null(r.item);
  ck_assert_uint_eq(r.n, 0);
}

/* The set is what the model says, in its only possible form. */
static void check_model(void) {
  size_t n = 0, total = 0;
  for (size_t i = 0; i < SPACE; i++) {
    total += model[i];
    if (!model[i] || (i > 0 && model[i - 1])) {
      continue;
    }
    size_t end = i;
    while (model[end]) {
      end++;
    }
    ck_assert_uint_lt(n, r.n);
    ck_assert_uint_eq(r.item[n].start, BASE + i);
    ck_assert_uint_eq(r.item[n].end, BASE + end);
    n++;
  }
  ck_assert_uint_eq(r.n, n);
  ck_assert_uint_eq(ranges_total(&r), total);
}

static void check_find(size_t at) {
  size_t i = 0;
  while (i < r.n && r.item[i].end <= BASE + at) {
    i++;
  }
  ck_assert_uint_eq(ranges_find(&r, BASE + at), i);
}

static void check_piece(size_t at, size_t end) {
  bool inside = !model[at];
  size_t stop = at;
  while (stop < end && model[stop] == model[at]) {
    stop++;
  }
  ck_assert_uint_eq(ranges_piece(&r, BASE + at, BASE + end, &inside),
                    stop - at);
  ck_assert_int_eq(inside, model[at]);
}

static void change(bool add, size_t start, size_t end) {
  const int result = add ? ranges_add(&r, BASE + start, BASE + end)
                         : ranges_remove(&r, BASE + start, BASE + end);
  ck_assert_int_eq(result, 0);
  for (size_t i = start; i < end; i++) {
    model[i] = add;
  }
}

START_TEST(random_changes_equal_a_bitmap) {
  /* Short pieces leave many ranges, long ones few. */
  static const unsigned longest[] = {3, 20, SPACE};
  state = 17u * (unsigned)(_i + 1);
  for (int step = 0; step < STEPS; step++) {
    const size_t start = below(SPACE);
    const size_t most =
        longest[_i] < SPACE - start ? longest[_i] : SPACE - start;
    change(below(2), start, start + below((unsigned)most + 1));
    check_model();
    const size_t at = below(SPACE);
    check_find(at);
    check_piece(at, at + 1 + below((unsigned)(SPACE - at)));
    if (below(2000) == 0) {
      ranges_clear(&r);
      memset(model, 0, sizeof(model));
      check_model();
    }
  }
}
END_TEST

START_TEST(neighbours_join) {
  change(true, 10, 20);
  change(true, 30, 40);
  change(true, 20, 29);
  ck_assert_uint_eq(r.n, 2);
  change(true, 29, 30);
  check_model();
  ck_assert_uint_eq(r.n, 1);
}
END_TEST

static void expect_range(size_t i, size_t start, size_t end, int value) {
  ck_assert_uint_lt(i, r.n);
  ck_assert_uint_eq(r.item[i].start, BASE + start);
  ck_assert_uint_eq(r.item[i].end, BASE + end);
  ck_assert_int_eq(r.item[i].value, value);
}

START_TEST(values_part_neighbours) {
  ck_assert_int_eq(ranges_mark(&r, BASE + 10, BASE + 30, 1), 0);
  ck_assert_int_eq(ranges_mark(&r, BASE + 15, BASE + 20, 2), 0);
  ck_assert_int_eq(ranges_add(&r, BASE + 30, BASE + 35), 0);
  ck_assert_uint_eq(r.n, 4);
  expect_range(0, 10, 15, 1);
  expect_range(1, 15, 20, 2);
  expect_range(2, 20, 30, 1);
  expect_range(3, 30, 35, 0);
  ck_assert_int_eq(ranges_mark(&r, BASE + 15, BASE + 35, 1), 0);
  ck_assert_uint_eq(r.n, 1);
  expect_range(0, 10, 35, 1);
}
END_TEST

START_TEST(a_hole_splits) {
  change(true, 10, 50);
  change(false, 20, 30);
  check_model();
  ck_assert_uint_eq(r.n, 2);
  change(false, 0, SPACE);
  check_model();
  ck_assert_uint_eq(r.n, 0);
}
END_TEST

START_TEST(sets_join_and_part) {
  struct ranges a = {0}, b = {0};
  ck_assert_int_eq(ranges_add(&a, 10, 20), 0);
  ck_assert_int_eq(ranges_add(&b, 20, 30), 0);
  ck_assert_int_eq(ranges_add(&b, 40, 50), 0);
  ck_assert_int_eq(ranges_add_all(&a, &b), 0);
  ck_assert_uint_eq(a.n, 2);
  ck_assert_uint_eq(ranges_total(&a), 30);
  ck_assert_uint_eq(ranges_total(&b), 20);
  ck_assert_int_eq(ranges_remove_all(&a, &b), 0);
  ck_assert_uint_eq(a.n, 1);
  ck_assert_uint_eq(ranges_total(&a), 10);
  ck_assert_uint_eq(ranges_total(&b), 20);
  ranges_free(&a);
  ranges_free(&b);
}
END_TEST

START_TEST(nothing_changes_nothing) {
  change(true, 10, 20);
  ck_assert_int_eq(ranges_add(&r, BASE + 25, BASE + 25), 0);
  ck_assert_int_eq(ranges_add(&r, BASE + 40, BASE + 30), 0);
  ck_assert_int_eq(ranges_remove(&r, BASE + 15, BASE + 15), 0);
  ck_assert_int_eq(ranges_remove(&r, BASE + 16, BASE + 15), 0);
  check_model();
}
END_TEST

START_TEST(an_empty_set_is_outside_of_everything) {
  bool inside = true;
  ck_assert_uint_eq(ranges_find(&r, 0), 0);
  ck_assert_uint_eq(ranges_piece(&r, 5, 105, &inside), 100);
  ck_assert(!inside);
  ck_assert_uint_eq(ranges_total(&r), 0);
  ck_assert_int_eq(ranges_remove(&r, 1, 2), 0);
  ck_assert_uint_eq(r.n, 0);
}
END_TEST

START_TEST(the_ends_of_the_address_space) {
  ck_assert_int_eq(ranges_add(&r, UINTPTR_MAX - 10, UINTPTR_MAX), 0);
  ck_assert_int_eq(ranges_add(&r, 0, 10), 0);
  ck_assert_uint_eq(r.n, 2);
  bool inside;
  ck_assert_uint_eq(ranges_piece(&r, 10, UINTPTR_MAX, &inside),
                    UINTPTR_MAX - 20);
  ck_assert(!inside);
  ck_assert_uint_eq(ranges_total(&r), 20);
}
END_TEST

/* Takes what is left of the address space. */
static void use_up_memory(void) {
  const struct rlimit none = {0, RLIM_INFINITY};
  ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
  ck_assert_int_eq(setrlimit(RLIMIT_DATA, &none), 0);
}

START_TEST(a_shortage_of_memory_changes_nothing) {
  size_t n = 0;
  use_up_memory();
  /* A heap has some room of its own; then both calls must fail. */
  while (n < 1 << 24 && ranges_add(&r, 2 * n, 2 * n + 1) == 0) {
    n++;
  }
  ck_assert_uint_lt(n, 1 << 24);
  ck_assert_uint_eq(r.n, n);
  ck_assert_int_eq(ranges_add(&r, 2 * n, 2 * n + 1), -1);
  ck_assert_int_eq(ranges_remove(&r, 0, 1), -1);
  ck_assert_uint_eq(r.n, n);
  ck_assert_uint_eq(ranges_total(&r), n);
  ck_assert_uint_eq(r.item[0].start, 0);
  const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
  ck_assert_int_eq(setrlimit(RLIMIT_AS, &all), 0);
  ck_assert_int_eq(setrlimit(RLIMIT_DATA, &all), 0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("ranges");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, clear, drop);
  tcase_add_loop_test(t, random_changes_equal_a_bitmap, 0, 3);
  tcase_add_test(t, neighbours_join);
  tcase_add_test(t, values_part_neighbours);
  tcase_add_test(t, a_hole_splits);
  tcase_add_test(t, sets_join_and_part);
  tcase_add_test(t, nothing_changes_nothing);
  tcase_add_test(t, an_empty_set_is_outside_of_everything);
  tcase_add_test(t, the_ends_of_the_address_space);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  puts("skipped: a shortage of memory, which no sanitizer bears");
  (void)a_shortage_of_memory_changes_nothing;
#else
  tcase_add_test(t, a_shortage_of_memory_changes_nothing);
#endif
  suite_add_tcase(s, t);
  return check_run(s);
}
