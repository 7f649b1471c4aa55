/* Contexts that are in memory in part. */
#define _GNU_SOURCE
#include "context/residency/partial.h"

#include "../store/store_contexts.h"
#include "base/counters.h"
#include "base/self.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/internal.h"
#include "context/residency/ledger.h"
#include "context/residency/residency.h"
#include "context/residency/working_set.h"

enum { SIZE = 12 << 20, MU = 16 << 20, PART = 2 << 20 };

static char *block[2];

/* Two contexts with `SIZE` bytes of their numbers, of `resident` in all. */
static void make(enum option_swapin swapin, size_t resident) {
  const struct disks_options on = {.dirs = dir, .io = "unix"};
  ck_assert_msg(disks_open(&disks, &on, 2, MU, &error) == 0, "%s", error.text);
  const struct contexts_options o = {.n = 2,
                                     .mu = MU,
                                     .k = 1,
                                     .resident = resident,
                                     .disks = disks,
                                     .bounce_count = 2,
                                     .bounce_bytes = 128 * KIB,
                                     .boundary_bytes = MIB,
                                     .swapin = swapin,
                                     .track = TRACK_AUTO};
  ck_assert_int_eq(contexts_create(&o, &error), 0);
  for (int i = 0; i < 2; i++) {
    ck_assert_msg(adopt(i) == 0, "%s", error.text);
    context_acquire(context_get(i));
    block[i] = context_alloc(context_get(i), SIZE, 4096);
    ck_assert_ptr_nonnull(block[i]);
    for (size_t at = 0; at < SIZE; at++) {
      block[i][at] = (char)(at / PAGE + (size_t)i);
    }
    context_release(context_get(i));
  }
}

static bool is_whole(int i, size_t from, size_t to) {
  bool right = true;
  for (size_t at = from; at < to; at++) {
    right &= block[i][at] == (char)(at / PAGE + (size_t)i);
  }
  return right;
}

/* Context i, whose VP waits, gives up about n bytes. */
static void trim(struct context *c, uint64_t n) {
  ledger_lock();
  ledger_trim_locked(c, n);
  ledger_unlock();
  partial_trim(c, 0, n);
  ledger_lock();
  ledger_trimmed_locked(c, c->charge - n);
  ledger_unlock();
}

START_TEST(only_where_it_is_asked_for) {
  make(SWAPIN_AUTO, 2 * MU);
  ck_assert(!partial_possible());
  partial_stops(context_get(0));
  partial_goes_on(context_get(0));
  ck_assert_ptr_null(context_get(0)->partial.set);
}
END_TEST

START_TEST(a_part_goes_and_comes) {
  make(SWAPIN_PARTS, 2 * MU);
  if (!partial_possible()) {
    return;
  }
  struct context *const c = context_get(0);
  trim(c, PART);
  const size_t missing = ranges_total(&c->partial.missing);
  ck_assert_uint_ge(missing, PART);
  ck_assert_uint_le(missing, 2 * PART);
  ck_assert(c->idle);
  const uint64_t before = counter_get(swap_in);
  ledger_lock();
  ledger_set_state_locked(c, CONTEXT_COMING);
  ledger_unlock();
  partial_fill(c); /* nothing is known: all */
  ledger_lock();
  ledger_set_state_locked(c, CONTEXT_IN);
  ledger_unlock();
  ck_assert_uint_eq(c->partial.missing.n, 0);
  ck_assert_uint_eq(counter_get(swap_in) - before, missing);
  ck_assert(is_whole(0, 0, SIZE));
}
END_TEST

/* By whoever touches them; and what is written there stays. */
START_TEST(missing_pages_come_when_they_are_touched) {
  make(SWAPIN_PARTS, 2 * MU);
  if (!partial_possible()) {
    return;
  }
  struct context *const c = context_get(0);
  trim(c, SIZE / 2);
  ck_assert(is_whole(0, 0, SIZE));
  memset(block[0], 0, SIZE);
  for (size_t at = 0; at < SIZE; at++) {
    block[0][at] = (char)(at / PAGE);
  }
  trim(c, PART);
  ck_assert(is_whole(0, 0, SIZE));
}
END_TEST

/* The second time that a part goes, it is on disk. */
START_TEST(unchanged_pages_are_not_written_again) {
  make(SWAPIN_PARTS, 2 * MU);
  struct context *const c = context_get(0);
  if (!partial_possible()) {
    return;
  }
  trim(c, SIZE / 2);
  ledger_lock();
  ledger_set_state_locked(c, CONTEXT_COMING);
  ledger_unlock();
  partial_fill(c);
  ledger_lock();
  ledger_set_state_locked(c, CONTEXT_IN);
  ledger_unlock();
  const uint64_t before = counter_get(swap_out);
  trim(c, SIZE / 2);
  ck_assert_uint_lt(counter_get(swap_out) - before, SIZE / 8);
}
END_TEST

START_TEST(what_could_go_is_counted) {
  struct context_plan plan;
  make(SWAPIN_PARTS, 2 * MU);
  struct context *const c = context_get(0);
  ck_assert_int_eq(partial_level(c), -1); /* nobody has looked */
  partial_plan(c, &plan);
  ck_assert(plan.made);
  c->partial.plan = plan;
  ck_assert_int_eq(partial_level(c), -1); /* its VP has not called MPI */
  if (partial_possible()) {
    working_set_stops(c, 1);
    partial_plan(c, &plan);
    ck_assert_uint_ge(plan.bytes[0], SIZE / 2); /* what follows is not known */
    c->partial.plan = plan;
    ck_assert_int_eq(partial_level(c), 0);
  }
}
END_TEST

/* Two contexts of which one and a half fit, by turns: half of each, always the
   same, is touched. */
static uint64_t take_turns(enum option_swapin swapin) {
  enum { TURNS = 24 };
  make(swapin, MU + MU / 2);
  const uint64_t before = counter_get(swap_in);
  for (int turn = 0; turn < 2 * TURNS; turn++) {
    const int i = turn % 2;
    struct context *const c = context_get(i);
    self.site = &block;
    partial_stops(c);
    context_acquire(c);
    partial_goes_on(c);
    ck_assert(is_whole(i, 0, SIZE / 2));
    self.site = &dir;
    partial_stops(c);
    partial_goes_on(c);
    context_release(c);
  }
  ck_assert(is_whole(1, 0, SIZE / 2));
  return counter_get(swap_in) - before;
}

START_TEST(halves_of_contexts_stay) {
  const uint64_t whole = take_turns(SWAPIN_EAGER);
  remove_all();
  make_dir();
  const uint64_t parts = take_turns(SWAPIN_PARTS);
  if (partial_possible()) {
    ck_assert_uint_lt(parts, whole / 2);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("partial");
  TCase *const tc = tcase_create("partial");
  tcase_set_timeout(tc, 120);
  tcase_add_checked_fixture(tc, make_dir, remove_all);
  tcase_add_test(tc, only_where_it_is_asked_for);
  tcase_add_test(tc, a_part_goes_and_comes);
  tcase_add_test(tc, missing_pages_come_when_they_are_touched);
  tcase_add_test(tc, unchanged_pages_are_not_written_again);
  tcase_add_test(tc, what_could_go_is_counted);
  tcase_add_test(tc, halves_of_contexts_stay);
  suite_add_tcase(s, tc);
  return check_run(s);
}
