/* Which contexts get huge pages, and what is written of those that use little
   of them. */
#define _GNU_SOURCE
#include "context/residency/density.h"

#include "../store/store_contexts.h"
#include "base/counters.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/internal.h"
#include "context/residency/residency.h"
#include "context/residency/swap.h"

#define HUGE_BYTES ((size_t)2 << 20)

enum { SIZE = 48 << 20 };

static void note(struct ranges *r, const char *p, size_t n) {
  ck_assert_int_eq(ranges_add(r, (uintptr_t)p, (uintptr_t)p + n), 0);
}

/* What `used` bytes of each of `units` units tell. */
static void learn(struct context *c, size_t units, size_t used) {
  struct ranges live = {0};
  for (size_t i = 1; i <= units; i++) {
    note(&live, c->range + i * HUGE_BYTES, used / 2);
    note(&live, c->range + (i + 1) * HUGE_BYTES - used / 2, used / 2);
  }
  density_learn(c, &live);
  ranges_free(&live);
}

START_TEST(what_is_used_decides) {
  struct context one = {.range_len = 64 * MIB}, other = one;
  one.range = other.range = NULL;
  ck_assert(density_huge(&one)); /* nobody looks */
  learn(&one, 7, 8192);
  ck_assert(density_huge(&one)); /* too little to tell */
  learn(&one, 8, 8192);
  ck_assert(!density_huge(&one));
  ck_assert(!density_huge(&other)); /* the program's ranks are alike */
  learn(&other, 20, MIB);
  ck_assert(density_huge(&other));
  ck_assert(!density_huge(&one));
  learn(&one, 20, MIB - 8192);
  ck_assert(!density_huge(&one));
}
END_TEST

START_TEST(the_first_two_megabytes_do_not_count) {
  struct context c = {.range_len = 64 * MIB};
  struct ranges live = {0};
  note(&live, NULL, HUGE_BYTES + 4096);
  density_learn(&c, &live);
  ck_assert_int_eq(c.density, DENSITY_UNKNOWN);
  ranges_free(&live);
}
END_TEST

static char *begin(struct context *c) {
  context_acquire(c);
  char *const p = context_alloc(c, SIZE, 4096);
  ck_assert_ptr_nonnull(p);
  return p;
}

START_TEST(a_program_that_fills_its_memory_is_seen_to) {
  create("unix", 2, 64 * MIB, 64 * MIB);
  ck_assert(!density_huge(context_get(1)));
  memset(begin(context_get(0)), 1, SIZE);
  while (!density_huge(context_get(1))) {
    usleep(1000);
  }
  context_release(context_get(0));
}
END_TEST

/* Bytes of [p, p + SIZE) that are in memory. */
static size_t in_memory(char *p) {
  static unsigned char in[SIZE / PAGE];
  size_t n = 0;
  ck_assert_int_eq(mincore(p, SIZE, in), 0);
  for (size_t i = 0; i < sizeof(in); i++) {
    n += in[i] & 1;
  }
  return n * PAGE;
}

/* Nor where all contexts fit in memory, so that there is no disk. */
START_TEST(untouched_pages_take_no_memory) {
  enum { STEP = 256 << 10 };
  const struct contexts_options o = {.n = 2,
                                     .mu = 64 * MIB,
                                     .resident = 256 * MIB,
                                     .bounce_count = 2,
                                     .bounce_bytes = 128 * KIB,
                                     .boundary_bytes = MIB};
  ck_assert_int_eq(contexts_create(&o, &error), 0);
  ck_assert_int_eq(adopt(0), 0);
  struct context *const c = context_get(0);
  char *const p = begin(c);
  for (size_t i = 0; i < SIZE; i += STEP) {
    p[i] = 1;
  }
  context_release(c);
  ck_assert_uint_eq(in_memory(p), SIZE / STEP * PAGE);
}
END_TEST

/* _i: with huge pages at first, of which one in 64 small ones is used. */
START_TEST(untouched_pages_are_not_written) {
  enum { STEP = 256 << 10 };
  create("unix", 2, 64 * MIB, 64 * MIB);
  struct context *const c = context_get(0);
  if (_i) {
    learn(c, 20, MIB);
    context_map(c); /* anew, as if it came in */
  }
  char *const p = begin(c);
  for (size_t i = 0; i < SIZE; i += STEP) {
    p[i] = (char)(1 + i / STEP % 100);
  }
  const uint64_t before = counter_get(bytes_written);
  contexts.evict_always = true;
  context_release(c);
  context_pin(c); /* when it has left */
  ck_assert_int_eq(c->state, CONTEXT_OUT);
  context_unpin(c);
  const uint64_t touched = SIZE / STEP * PAGE;
  ck_assert_uint_ge(counter_get(bytes_written) - before, touched);
  ck_assert_uint_le(counter_get(bytes_written) - before, touched + MIB);
  ck_assert_int_eq(c->density, DENSITY_SPARSE);
  context_acquire(c);
  for (size_t i = 0; i < SIZE; i += STEP) {
    ck_assert_int_eq(p[i], (char)(1 + i / STEP % 100));
    ck_assert_int_eq(p[i + PAGE], 0);
  }
  context_release(c);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("density");
  TCase *const t = tcase_create("verdict");
  tcase_add_test(t, what_is_used_decides);
  tcase_add_test(t, the_first_two_megabytes_do_not_count);
  suite_add_tcase(s, t);
  TCase *const contexts_case = tcase_create("contexts");
  tcase_set_timeout(contexts_case, 120);
  tcase_add_checked_fixture(contexts_case, make_dir, remove_all);
  tcase_add_test(contexts_case, a_program_that_fills_its_memory_is_seen_to);
  tcase_add_loop_test(contexts_case, untouched_pages_are_not_written, 0, 2);
  tcase_add_test(contexts_case, untouched_pages_take_no_memory);
  suite_add_tcase(s, contexts_case);
  return check_run(s);
}
