/* What a context touches after each call of MPI, found out and foretold. */
#define _GNU_SOURCE
#include "context/residency/working_set.h"

#include "../store/store_contexts.h"
#include "check_main.h"
#include "context/internal.h"

#include <fcntl.h>

enum { UNIT = WORKING_SET_UNIT, UNITS = 32, LAST = CONTEXT_LEVELS - 1 };

static struct context *one;
static char *file; /* UNITS of a mapped file */

/* All of the file is missing, and nobody has touched it. */
static void forget(void) {
  ck_assert_int_eq(madvise(file, UNITS * UNIT, MADV_DONTNEED), 0);
  ranges_clear(&one->partial.missing);
  ck_assert_int_eq(ranges_add(&one->partial.missing, (uintptr_t)file,
                              (uintptr_t)file + UNITS * UNIT),
                   0);
}

static void start(void) {
  char name[] = "/var/tmp/test_working_set-XXXXXX";
  const int fd = mkostemp(name, O_CLOEXEC);
  ck_assert_int_ge(fd, 0);
  unlink(name);
  ck_assert_int_eq(ftruncate(fd, (UNITS + 1) * UNIT), 0);
  char *const at = mmap(NULL, (UNITS + 1) * UNIT, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE, fd, 0);
  ck_assert_ptr_ne(at, MAP_FAILED);
  close(fd);
  file = at + UNIT - (uintptr_t)at % UNIT;
  make_dir();
  create("unix", 1, 4 * MIB, 4 * MIB);
  one = context_get(0);
  forget();
}

/* The program goes on after the call at a site, and touches units up to the
   next call, at `next`. */
static void touch(bool waited, bool writes, const char *units, uintptr_t next) {
  working_set_goes_on(one, waited);
  for (int i = 0; units[i]; i++) {
    volatile char *const p = file + (size_t)(units[i] - 'a') * UNIT;
    if (writes) {
      *p = 1;
    } else {
      (void)*p;
    }
  }
  working_set_stops(one, next);
}

/* Units that are expected, as letters. */
static const char *expected(void) {
  static char text[UNITS + 1];
  struct ranges all = {0}, soon = {0};
  int n = 0;
  ck_assert_int_eq(
      ranges_add(&all, (uintptr_t)file, (uintptr_t)file + UNITS * UNIT), 0);
  const bool known = working_set_soon(one, &all, &soon);
  for (int i = 0; known && i < UNITS; i++) {
    bool in;
    (void)ranges_piece(&soon, (uintptr_t)file + (size_t)i * UNIT,
                       (uintptr_t)file + (size_t)(i + 1) * UNIT, &in);
    if (in) {
      text[n++] = (char)('a' + i);
    }
  }
  text[n] = '\0';
  ranges_free(&all);
  ranges_free(&soon);
  return known ? text : "unknown";
}

START_TEST(what_was_touched_after_a_call_is_expected_there) {
  enum { A = 1, B };
  working_set_stops(one, A);
  ck_assert_str_eq(expected(), "unknown");
  for (int i = 0; i < 4; i++) {
    touch(true, false, "bd", B);
    touch(true, true, "f", A);
    forget();
  }
  ck_assert_str_eq(expected(), "bd");
  touch(true, false, "", B);
  ck_assert_str_eq(expected(), "f");
}
END_TEST

/* What is read until the program waits, not what is touched later. */
START_TEST(calls_that_do_not_wait_are_looked_beyond) {
  enum { A = 1, B, C };
  working_set_stops(one, A);
  for (int i = 0; i < 12; i++) {
    touch(true, false, "a", B);
    touch(false, false, "b", C);
    touch(true, false, "c", A);
    forget();
  }
  ck_assert_str_eq(expected(), "ab");
}
END_TEST

START_TEST(a_function_that_two_loops_call_is_told_apart) {
  enum { A = 1, B, F };
  working_set_stops(one, A);
  for (int i = 0; i < 6; i++) {
    touch(true, false, "", F);
    touch(true, false, "a", B);
    touch(true, false, "", F);
    touch(true, false, "b", A);
    forget();
  }
  touch(true, false, "", F);
  ck_assert_str_eq(expected(), "a");
  touch(true, false, "", B);
  touch(true, false, "", F);
  ck_assert_str_eq(expected(), "b");
}
END_TEST

START_TEST(levels_count_waits) {
  enum { A = 1, B, C };
  uint8_t level[UNITS];
  working_set_stops(one, A);
  for (int i = 0; i < 12; i++) {
    touch(true, false, "a", B);
    touch(true, true, "b", C);
    touch(true, false, "c", A);
    forget();
  }
  working_set_levels(one, (uintptr_t)file, level, UNITS);
  ck_assert_int_eq(level[0], 0);
  ck_assert_int_eq(level[1], 1);
  ck_assert_int_eq(level[2], 2);
  ck_assert_int_eq(level[3], LAST);
}
END_TEST

/* Where what follows is not known, all may be due. */
START_TEST(what_is_not_known_is_due) {
  uint8_t level[UNITS];
  working_set_levels(one, (uintptr_t)file, level, UNITS);
  ck_assert_int_eq(level[UNITS - 1], 0);
}
END_TEST

/* By others: it is no touch of the program's. */
START_TEST(what_was_written_is_there) {
  file[3 * UNIT] = 1;
  working_set_settle(one);
  bool missing;
  (void)ranges_piece(&one->partial.missing, (uintptr_t)file + 3 * UNIT,
                     (uintptr_t)file + 4 * UNIT, &missing);
  ck_assert(!missing);
  ck_assert_uint_eq(ranges_total(&one->partial.missing), (UNITS - 1) * UNIT);
}
END_TEST

START_TEST(it_can_be_forgotten) {
  working_set_stops(one, 1);
  ck_assert_ptr_nonnull(one->partial.set);
  working_set_free(one);
  ck_assert_ptr_null(one->partial.set);
  working_set_free(one);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("working_set");
  TCase *const tc = tcase_create("working_set");
  tcase_set_timeout(tc, 120);
  tcase_add_checked_fixture(tc, start, remove_all);
  tcase_add_test(tc, what_was_touched_after_a_call_is_expected_there);
  tcase_add_test(tc, calls_that_do_not_wait_are_looked_beyond);
  tcase_add_test(tc, a_function_that_two_loops_call_is_told_apart);
  tcase_add_test(tc, levels_count_waits);
  tcase_add_test(tc, what_is_not_known_is_due);
  tcase_add_test(tc, what_was_written_is_there);
  tcase_add_test(tc, it_can_be_forgotten);
  suite_add_tcase(s, tc);
  return check_run(s);
}
