/* Sorted arrays in memory, by levels, beside a plain list. */
#include "em/pqueue/memory_arrays.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"
#include "os/native.h"

enum { UNIT = 4096, UNITS = 64, MOST = 12 };

static const struct pems_record record = {.size = 8, .key = PEMS_KEY_U64};
static char *memory;
static struct arena arena;
static struct memory_arrays a;

static void setup(void) {
  memory = native_aligned(UNIT, UNIT * UNITS);
  ck_assert_int_eq(arena_init(&arena, memory, UNIT * UNITS, UNIT), 0);
  ck_assert_int_eq(
      memory_arrays_init(&a, &record, kernel_find(&record, NULL), &arena, MOST),
      0);
}

static void teardown(void) {
  memory_arrays_destroy(&a);
  arena_destroy(&arena);
  native_free(memory);
}

/* first, first + step, ... */
static void add(uint64_t first, uint64_t step, size_t n, int level) {
  uint64_t *const at = arena_get(&arena, n * sizeof(*at));
  ck_assert_ptr_nonnull(at);
  for (size_t i = 0; i < n; i++) {
    at[i] = first + i * step;
  }
  memory_arrays_add(&a, (char *)at, n, (char *)at,
                    arena_rounded(&arena, n * sizeof(*at)), level);
}

static uint64_t first_record(void) {
  const int slot = memory_arrays_first(&a);
  ck_assert_int_ge(slot, 0);
  return *(const uint64_t *)a.array[slot].at;
}

START_TEST(none_is_first_where_there_are_none) {
  ck_assert_int_eq(memory_arrays_first(&a), -1);
  ck_assert_int_eq(memory_arrays_of_level(&a, 0), 0);
  ck_assert_uint_eq(a.records, 0);
}
END_TEST

START_TEST(the_first_comes_from_whichever_has_it) {
  for (uint64_t i = 0; i < MOST; i++) {
    add(i, MOST, 100, (int)(i % 3));
  }
  ck_assert_int_eq(a.count, MOST);
  ck_assert_int_eq(memory_arrays_of_level(&a, 1), MOST / 3);
  for (uint64_t i = 0; i < 100 * MOST; i++) {
    ck_assert_uint_eq(first_record(), i);
    ck_assert_uint_eq(a.records, 100 * MOST - i);
    memory_arrays_gone(&a, memory_arrays_first(&a), 1);
  }
  ck_assert_int_eq(memory_arrays_first(&a), -1);
  ck_assert_int_eq(a.count, 0);
  ck_assert_int_eq(a.end, 0);
}
END_TEST

START_TEST(ranges_go_back_and_slots_are_used_again) {
  add(5, 1, 1000, 0);
  add(7, 1, 10, 1);
  ck_assert_uint_eq(arena_free(&arena), UNIT * (UNITS - 3));
  memory_arrays_gone(&a, 0, 999);
  ck_assert_uint_eq(first_record(), 7);
  ck_assert_uint_eq(arena_free(&arena), UNIT * (UNITS - 3));
  memory_arrays_gone(&a, 0, 1);
  ck_assert_uint_eq(arena_free(&arena), UNIT * (UNITS - 1));
  ck_assert_int_eq(memory_arrays_of_level(&a, 0), 0);
  add(1, 1, 1, 2);
  ck_assert_int_eq(memory_arrays_first(&a), 0);
  ck_assert_int_eq(a.end, 2);
  ck_assert_uint_eq(a.records, 11);
}
END_TEST

START_TEST(some_from_the_middle_of_all) {
  add(10, 10, 50, 0);
  add(1, 1, 5, 0);
  memory_arrays_gone(&a, 1, 0);
  ck_assert_uint_eq(first_record(), 1);
  memory_arrays_gone(&a, 1, 4);
  ck_assert_uint_eq(first_record(), 5);
  memory_arrays_gone(&a, 0, 3);
  memory_arrays_gone(&a, 1, 1);
  ck_assert_uint_eq(first_record(), 40);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("arrays");
  TCase *const t = tcase_create("arrays");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, none_is_first_where_there_are_none);
  tcase_add_test(t, the_first_comes_from_whichever_has_it);
  tcase_add_test(t, ranges_go_back_and_slots_are_used_again);
  tcase_add_test(t, some_from_the_middle_of_all);
  suite_add_tcase(s, t);
  return check_run(s);
}
