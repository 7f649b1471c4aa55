/* The free space of a file against a bitmap. */
#include "disk/extents.h"

#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "check_main.h"
#include "check_memory.h"

enum { SPACE = 400, STEPS = 30000, BLOCKS = 200 };

static unsigned state;

static unsigned below(unsigned n) {
  state = state * 1103515245 + 12345;
  return (state >> 8) % n;
}

/* --- the model --- */

static char used[SPACE];

/* The first row of n free units, or SPACE. */
static unsigned first_fit(unsigned n) {
  unsigned row = 0;
  for (unsigned i = 0; i < SPACE; i++) {
    row = used[i] ? 0 : row + 1;
    if (row == n) {
      return i + 1 - n;
    }
  }
  return SPACE;
}

static unsigned longest_row(void) {
  unsigned row = 0, most = 0;
  for (unsigned i = 0; i < SPACE; i++) {
    row = used[i] ? 0 : row + 1;
    most = row > most ? row : most;
  }
  return most;
}

static unsigned free_units(void) {
  unsigned n = 0;
  for (unsigned i = 0; i < SPACE; i++) {
    n += !used[i];
  }
  return n;
}

START_TEST(takes_and_gives_as_the_model) {
  struct {
    uint64_t at, n;
  } block[BLOCKS];
  int blocks = 0;
  state = (unsigned)_i + 1;
  memset(used, 0, sizeof(used));
  struct extents *const e = extents_new(SPACE);
  for (int step = 0; step < STEPS; step++) {
    /* Phases in which it fills, and empties. */
    const unsigned give_of_10 = step / 500 % 2 ? 7 : 3;
    const unsigned n = 1 + below(1 + (unsigned)_i * 10);
    if (blocks && (below(10) < give_of_10 || blocks == BLOCKS)) {
      const unsigned i = below((unsigned)blocks);
      ck_assert_int_eq(extents_give(e, block[i].at, block[i].n), 0);
      memset(used + block[i].at, 0, block[i].n);
      block[i] = block[--blocks];
    } else {
      const unsigned want = first_fit(n);
      uint64_t at = 12345;
      const int full = extents_take(e, n, &at);
      ck_assert_int_eq(full, want == SPACE ? -1 : 0);
      if (!full) {
        ck_assert_uint_eq(at, want);
        memset(used + at, 1, n);
        block[blocks].at = at;
        block[blocks++].n = n;
      }
    }
    ck_assert_uint_eq(extents_free(e), free_units());
    ck_assert_uint_eq(extents_longest(e), longest_row());
  }
  extents_delete(e);
}
END_TEST

START_TEST(all_that_was_given_back_is_one_row_again) {
  enum { N = 10000 };
  static uint64_t at[N];
  struct extents *const e = extents_new((uint64_t)N << 20);
  for (int i = 0; i < N; i++) {
    ck_assert_int_eq(extents_take(e, 1 << 20, &at[i]), 0);
  }
  ck_assert_uint_eq(extents_free(e), 0);
  ck_assert_uint_eq(extents_longest(e), 0);
  uint64_t none;
  ck_assert_int_eq(extents_take(e, 1, &none), -1);
  /* All the even ones, then the odd ones in another order. */
  for (int i = 0; i < N; i += 2) {
    ck_assert_int_eq(extents_give(e, at[i], 1 << 20), 0);
  }
  ck_assert_uint_eq(extents_longest(e), 1 << 20);
  for (int i = N - 1; i > 0; i -= 2) {
    ck_assert_int_eq(extents_give(e, at[i], 1 << 20), 0);
  }
  ck_assert_uint_eq(extents_longest(e), (uint64_t)N << 20);
  ck_assert_int_eq(extents_take(e, (uint64_t)N << 20, &at[0]), 0);
  ck_assert_uint_eq(at[0], 0);
  extents_delete(e);
}
END_TEST

START_TEST(nothing_at_all) {
  uint64_t at;
  struct extents *const e = extents_new(0);
  ck_assert_int_eq(extents_take(e, 1, &at), -1);
  ck_assert_uint_eq(extents_free(e), 0);
  extents_delete(e);
  struct extents *const some = extents_new(5);
  ck_assert_int_eq(extents_take(some, 0, &at), -1);
  ck_assert_int_eq(extents_take(some, UINT64_MAX, &at), -1);
  ck_assert_int_eq(extents_take(some, 6, &at), -1);
  ck_assert_int_eq(extents_take(some, 5, &at), 0);
  extents_delete(some);
  extents_delete(NULL);
}
END_TEST

/* What cannot be given back stays taken. */
static int in_pieces(void *arg) {
  (void)arg;
  struct extents *const e = extents_new(100);
  if (!e) {
    return ENOMEM;
  }
  int code = 0;
  uint64_t at;
  ck_assert_int_eq(extents_take(e, 100, &at), 0);
  for (uint64_t i = 0, was = 0; i < 100 && !code; i += 2) {
    code = extents_give(e, i, 1) ? ENOMEM : 0;
    was += !code;
    ck_assert_uint_eq(extents_free(e), was);
  }
  extents_delete(e);
  return code;
}

START_TEST(without_memory_nothing_is_given_back) {
  memory_every(in_pieces, NULL, ENOMEM, MEMORY_NEEDED);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("extents");
  TCase *const t = tcase_create("extents");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, takes_and_gives_as_the_model, 0, 5);
  tcase_add_test(t, all_that_was_given_back_is_one_row_again);
  tcase_add_test(t, nothing_at_all);
  tcase_add_test(t, without_memory_nothing_is_given_back);
  suite_add_tcase(s, t);
  return check_run(s);
}
