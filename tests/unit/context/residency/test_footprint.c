/* How much of a context exists. */
#define _GNU_SOURCE
#include "context/residency/footprint.h"

#include "../store/store_contexts.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/residency/residency.h"

enum { SIZE = 32 << 20, STEP = 1 << 20 };

START_TEST(what_was_touched_counts) {
  create("unix", 1, 64 * MIB, 64 * MIB);
  struct context *const c = context_get(0);
  context_acquire(c);
  char *const p = context_alloc(c, SIZE, 4096);
  const uint64_t before = footprint(c);
  ck_assert_uint_ge(before, data_len);
  for (size_t i = 0; i < SIZE; i += STEP) {
    p[i] = 1;
  }
  const uint64_t pages = SIZE / STEP * PAGE, tables = SIZE / HUGE_PAGE * PAGE;
  ck_assert_uint_ge(footprint(c) - before, pages);
  ck_assert_uint_le(footprint(c) - before, pages + tables + PAGE);
  const uint64_t touched = footprint(c);
  volatile char sum = 0;
  for (size_t i = PAGE; pages_survey_full() && i < SIZE; i += STEP) {
    sum += p[i]; /* pages of zeros that all share */
  }
  ck_assert_int_eq(sum, 0);
  ck_assert_uint_eq(footprint(c), touched);
  memset(p, 1, SIZE);
  ck_assert_uint_ge(footprint(c), SIZE);
  ck_assert_uint_le(footprint(c), SIZE + 2 * MIB);
  context_free(c, p); /* its pages are still there */
  ck_assert_uint_ge(footprint(c), SIZE);
  context_release(c);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("footprint");
  TCase *const t = tcase_create("footprint");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, make_dir, remove_all);
  tcase_add_test(t, what_was_touched_counts);
  suite_add_tcase(s, t);
  return check_run(s);
}
