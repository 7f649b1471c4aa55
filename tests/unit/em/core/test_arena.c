/* Ranges of one memory, against a map of bytes. */
#include "em/core/arena.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

enum { UNIT = 64, MOST = 700 /* units */, HELD = 200 };

static char *memory;
static struct arena a;
static char taken[MOST + 1]; /* of each unit; the last is the end */
static uint32_t state = 1;

static size_t below(size_t n) {
  state = state * 1103515245 + 12345;
  return (state >> 8) % n;
}

static void setup(void) {
  memory = malloc(MOST * UNIT);
  memset(taken, 0, sizeof(taken));
  taken[MOST] = 1;
}

static void teardown(void) {
  arena_destroy(&a);
  free(memory);
}

static void open_arena(size_t bytes) {
  ck_assert_int_eq(arena_init(&a, memory, bytes, UNIT), 0);
}

static size_t units_of(size_t n) {
  return (n + UNIT - 1) / UNIT;
}

static size_t length(size_t first, size_t units) {
  size_t n = 0;
  while (first + n < units && !taken[first + n]) {
    n++;
  }
  return n;
}

/* Where `n` units should be found, or the largest range; `units` if nowhere. */
static size_t low(size_t units, size_t n) {
  for (size_t i = 0; i < units; i++) {
    if (length(i, units) >= n) {
      return i;
    }
  }
  return units;
}

static size_t high(size_t units, size_t n) {
  for (size_t i = units; i-- > 0;) {
    if (length(i, units) >= n) {
      return i;
    }
  }
  return units;
}

static size_t largest(size_t units) {
  size_t best = 0;
  for (size_t i = 1; i < units; i++) {
    if (length(i, units) > length(best, units)) {
      best = i;
    }
  }
  return best;
}

static struct {
  char *p;
  size_t n;
} held[HELD];

static void take(int slot, char *p, size_t n, size_t want, size_t units) {
  if (want == units) {
    ck_assert_ptr_null(p);
    return;
  }
  ck_assert_ptr_eq(p, memory + want * UNIT);
  memset(taken + want, 1, units_of(n));
  held[slot].p = p;
  held[slot].n = n;
}

static void take_largest(int slot, size_t units) {
  const size_t best = largest(units), there = length(best, units) * UNIT;
  const size_t least = below(3 * UNIT), most = 1 + least + below(20 * UNIT);
  const size_t want = there < most ? there : most;
  size_t n;
  char *const p = arena_get_largest(&a, least, most, &n);
  if (want < least || there == 0) {
    ck_assert_ptr_null(p);
  } else {
    ck_assert_uint_eq(n, want);
    take(slot, p, n, best, units);
  }
}

/* Whole units of it, from one end. */
static void give_some(int slot) {
  const size_t all = units_of(held[slot].n);
  const size_t some = below(2) ? all : 1 + below(all);
  char *const p = below(2) || some == all ? held[slot].p
                                          : held[slot].p + (all - some) * UNIT;
  const size_t n = some == all ? held[slot].n : some * UNIT;
  arena_put(&a, p, n);
  memset(taken + (p - memory) / UNIT, 0, some);
  if (p == held[slot].p) {
    held[slot].p += some * UNIT;
  }
  held[slot].n = (all - some) * UNIT;
}

static void check_free(size_t units) {
  size_t free = 0;
  for (size_t i = 0; i < units; i++) {
    free += !taken[i];
  }
  ck_assert_uint_eq(arena_free(&a), free * UNIT);
}

static void random_ranges(size_t units) {
  memset(held, 0, sizeof(held));
  open_arena(units * UNIT + below(UNIT));
  for (int i = 0; i < 3000; i++) {
    const int slot = (int)below(HELD);
    const size_t n = 1 + below(UNIT * (1 + below(i % 100 ? 8 : 300)));
    const size_t kind = below(3);
    if (held[slot].n) {
      give_some(slot);
    } else if (kind == 0) {
      take(slot, arena_get(&a, n), n, low(units, units_of(n)), units);
    } else if (kind == 1) {
      take(slot, arena_get_high(&a, n), n, high(units, units_of(n)), units);
    } else {
      take_largest(slot, units);
    }
    check_free(units);
  }
  arena_destroy(&a);
}

START_TEST(ranges_are_where_they_should_be) {
  static const size_t sizes[] = {1, 2, 63, 64, 65, 128, 500, MOST};
  memset(taken, 0, sizeof(taken));
  random_ranges(sizes[_i]);
}
END_TEST

START_TEST(all_of_it) {
  size_t n;
  open_arena(MOST * UNIT);
  ck_assert_ptr_null(arena_get(&a, MOST * UNIT + 1));
  ck_assert_ptr_eq(arena_get(&a, MOST * UNIT), memory);
  ck_assert_uint_eq(arena_free(&a), 0);
  ck_assert_ptr_null(arena_get(&a, 1));
  ck_assert_ptr_null(arena_get_high(&a, 1));
  ck_assert_ptr_null(arena_get_largest(&a, 0, 100, &n));
  /* What was one range comes back as several. */
  arena_put(&a, memory + 100 * UNIT, 50 * UNIT);
  arena_put(&a, memory + 200 * UNIT, 50 * UNIT);
  arena_put(&a, memory + 150 * UNIT, 50 * UNIT);
  ck_assert_ptr_eq(arena_get_largest(&a, 1, SIZE_MAX, &n), memory + 100 * UNIT);
  ck_assert_uint_eq(n, 150 * UNIT);
}
END_TEST

START_TEST(what_is_no_whole_unit) {
  open_arena(3 * UNIT - 1);
  ck_assert_uint_eq(arena_free(&a), 2 * UNIT);
  ck_assert_uint_eq(arena_rounded(&a, 1), UNIT);
  ck_assert_uint_eq(arena_rounded(&a, UNIT), UNIT);
  ck_assert_ptr_null(arena_get(&a, 2 * UNIT + 1));
  arena_destroy(&a);
  open_arena(UNIT - 1);
  ck_assert_ptr_null(arena_get(&a, 1));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("arena");
  TCase *const t = tcase_create("all");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, ranges_are_where_they_should_be, 0, 8);
  tcase_add_test(t, all_of_it);
  tcase_add_test(t, what_is_no_whole_unit);
  suite_add_tcase(s, t);
  return check_run(s);
}
