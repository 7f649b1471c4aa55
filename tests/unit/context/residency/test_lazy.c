/* Pages that are read when they are touched, and counted. */
#define _GNU_SOURCE
#include "context/residency/lazy.h"

#include "../store/store_contexts.h"
#include "base/counters.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/residency/density.h"
#include "context/residency/residency.h"
#include "context/residency/track.h"
#include "os/bits.h"
#include "os/pages.h"

/* Too little to be kept in memory because little of it is used. */
enum { SIZE = 3 << 19, MU = 1 << 21, STEP = 100 << 10 };

static char *block[2];

/* Two contexts of which one fits, with `size` bytes of 1. */
static void make(enum option_swapin swapin, enum option_track track, size_t mu,
                 size_t size) {
  const struct disks_options on = {.dirs = dir, .io = "unix"};
  ck_assert_msg(disks_open(&disks, &on, 2, mu, &error) == 0, "%s", error.text);
  const struct contexts_options o = {.n = 2,
                                     .mu = mu,
                                     .resident = mu,
                                     .disks = disks,
                                     .bounce_count = 2,
                                     .bounce_bytes = 128 * KIB,
                                     .boundary_bytes = MIB,
                                     .swapin = swapin,
                                     .track = track};
  ck_assert_int_eq(contexts_create(&o, &error), 0);
  for (int i = 0; i < 2; i++) {
    ck_assert_msg(adopt(i) == 0, "%s", error.text);
    context_acquire(context_get(i));
    block[i] = context_alloc(context_get(i), size, 4096);
    ck_assert_ptr_nonnull(block[i]);
    memset(block[i], 1, size);
    context_release(context_get(i));
  }
}

static void make_two(enum option_swapin swapin, enum option_track track) {
  make(swapin, track, MU, SIZE);
}

/* Context 0 comes, and goes when 1 does. */
static void touch(int reads, int writes) {
  volatile char sum = 0;
  context_acquire(context_get(0));
  for (int i = 0; i < reads; i++) {
    sum += block[0][i * STEP];
  }
  for (int i = 0; i < writes; i++) {
    block[0][(size_t)i * STEP + SIZE / 2] = 2;
  }
  ck_assert_int_eq(sum, reads);
  context_release(context_get(0));
  context_acquire(context_get(1));
  context_release(context_get(1));
}

START_TEST(single_pages_are_what_is_moved) {
  const int reads = 9, writes = 5;
  make_two(SWAPIN_PAGES, TRACK_OFF);
  for (int i = 0; i < 3; i++) { /* nothing is learnt: each time the same */
    const uint64_t in = counter_get(swap_in), out = counter_get(swap_out);
    touch(reads, writes);
    ck_assert_uint_eq(counter_get(swap_in) - in, (reads + writes) * PAGE);
    /* And context 1, when it left for the first time: its block, the page
       before, and its data. */
    const uint64_t all = (i ? 0 : SIZE + PAGE + data_len) + writes * PAGE;
    ck_assert_uint_eq(counter_get(swap_out) - out, all);
  }
}
END_TEST

START_TEST(whole_contexts_are_more) {
  make_two(SWAPIN_EAGER, TRACK_OFF);
  const uint64_t in = counter_get(swap_in);
  touch(1, 1);
  ck_assert_uint_ge(counter_get(swap_in) - in, SIZE);
}
END_TEST

START_TEST(who_was_read_is_told_once) {
  make_two(SWAPIN_EAGER, TRACK_OFF);
  ck_assert(!context_was_read(context_get(1)));
  touch(0, 0);
  ck_assert(context_was_read(context_get(0)));
  ck_assert(!context_was_read(context_get(0)));
  ck_assert(context_was_read(context_get(1)));
}
END_TEST

/* Does this system tell what was written? */
static bool watches(void) {
  (void)pages_survey_start();
  const bool known = track_start(TRACK_ASYNC, &error) == 0;
  track_end();
  return known;
}

/* Bytes written while context 0 comes n times and changes its first half. */
static uint64_t change_half(int n) {
  const uint64_t before = counter_get(swap_out);
  for (int i = 0; i < n; i++) {
    context_acquire(context_get(0));
    memset(block[0], i + 2, SIZE / 2);
    context_release(context_get(0));
    context_acquire(context_get(1));
    context_release(context_get(1));
  }
  return counter_get(swap_out) - before;
}

/* Of a context of which too much changes to be watched as a whole. */
START_TEST(half_that_stays_unwritten_is_not_written_again) {
  if (watches()) {
    make_two(SWAPIN_AUTO, TRACK_AUTO);
    change_half(10);
    ck_assert_uint_lt(change_half(4), 4 * SIZE / 4 * 3);
  }
}
END_TEST

static volatile char seen; /* what is read, so that it is */

/* Context i comes, and its first half is touched: bytes that were not read in
   advance. All have waited at the same site. */
static uint64_t touch_half(int i) {
  struct context *const c = context_get(i);
  context_acquire(c);
  const uint64_t mapped = c->lazy.mapped_bytes;
  for (size_t at = 0; at < SIZE / 2; at += PAGE) {
    seen += block[i][at];
  }
  context_release(c);
  return mapped;
}

/* What one has touched is read in advance for the other, which has not run from
   there yet. */
START_TEST(one_learns_from_another) {
  make_two(SWAPIN_LAZY, TRACK_OFF);
  ck_assert_uint_ge(touch_half(0), SIZE);
  const uint64_t left = touch_half(1);
  ck_assert_uint_le(left, SIZE / 2);
  ck_assert_uint_ge(left, SIZE / 4);
}
END_TEST

/* Also what it frees before it waits: here the last third of its block. */
START_TEST(what_was_freed_is_learnt) {
  make_two(SWAPIN_LAZY, TRACK_OFF);
  struct context *const c = context_get(0);
  context_acquire(c);
  ck_assert_uint_ge(c->lazy.mapped_bytes, SIZE);
  memset(block[0], 2, SIZE);
  ck_assert_ptr_nonnull(context_alloc(c, PAGE, PAGE)); /* behind it */
  context_free(c, block[0]);
  ck_assert_ptr_eq(context_alloc(c, SIZE / 3 * 2, PAGE), block[0]);
  context_release(c);
  ck_assert_uint_le(touch_half(1), SIZE / 4);
}
END_TEST

enum { LARGE = 48 << 20, UNIT = 64 << 10 };

/* Context 0 comes, writes a page in each of n units, and goes: bytes read for
   the first one. */
static uint64_t write_apart(int n) {
  struct context *const c = context_get(0);
  context_acquire(c);
  lazy_run(c);
  block[0][0] = 2;
  const uint64_t first = lazy_bytes_read(c);
  for (int i = 1; i < n; i++) {
    block[0][(size_t)i * UNIT] = 2;
  }
  lazy_stop(c);
  context_release(c);
  context_acquire(context_get(1));
  context_release(context_get(1));
  return first;
}

/* Scattered pages are read one by one, but not for long where, after that, much
   is touched. */
START_TEST(single_pages_are_given_up) {
  enum { FEW = 5 << 20, REST = 8 };
  make(SWAPIN_LAZY, TRACK_OFF, LARGE, LARGE - MIB);
  ck_assert_uint_gt(write_apart(FEW / UNIT), PAGE);
  ck_assert_uint_eq(write_apart(FEW / UNIT), PAGE);
  ck_assert_uint_eq(write_apart((LARGE - 2 * MIB) / UNIT), PAGE);
  for (int i = 0; i < REST; i++) {
    ck_assert_uint_gt(write_apart(FEW / UNIT), PAGE);
  }
  int more = 0; /* and then tried again */
  while (write_apart(FEW / UNIT) > PAGE && more <= REST) {
    more++;
  }
  ck_assert_int_le(more, REST);
}
END_TEST

/* Context 0 comes, touches n bytes of a huge page, but for some in the middle
   of them, and goes: bytes read when it comes. */
static uint64_t touch_huge(size_t n) {
  enum { GAP = 512 << 10 };
  char *const page =
      (char *)bits_align_up((uintptr_t)block[0], HUGE_PAGE) + HUGE_PAGE;
  const uint64_t before = counter_get(swap_in);
  context_acquire(context_get(0));
  const uint64_t came = counter_get(swap_in) - before;
  for (size_t at = 0; at < n; at += PAGE) {
    seen += at < n / 2 - GAP / 2 || at >= n / 2 + GAP / 2 ? page[at] : 0;
  }
  context_release(context_get(0));
  context_acquire(context_get(1));
  context_release(context_get(1));
  return came;
}

/* Where half of a huge page is expected, it is read as a whole. */
START_TEST(huge_pages_come_whole) {
  enum { BIG = 48 << 20 };
  make(SWAPIN_LAZY, TRACK_OFF, BIG, BIG - MIB);
  ck_assert(density_huge(context_get(0)));
  touch_huge(HUGE_PAGE / 2);
  const uint64_t quarter = touch_huge(HUGE_PAGE / 2);
  ck_assert_uint_lt(quarter, HUGE_PAGE);
  uint64_t most = 0;
  for (int i = 0; i < 10; i++) { /* more and more is expected */
    most = bits_max(most, touch_huge(HUGE_PAGE / 4 * 3));
  }
  ck_assert_uint_ge(most, HUGE_PAGE);
  ck_assert_uint_lt(most, HUGE_PAGE + HUGE_PAGE / 4);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("lazy");
  TCase *const t = tcase_create("lazy");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, make_dir, remove_all);
  tcase_add_test(t, single_pages_are_what_is_moved);
  tcase_add_test(t, whole_contexts_are_more);
  tcase_add_test(t, who_was_read_is_told_once);
  tcase_add_test(t, half_that_stays_unwritten_is_not_written_again);
  tcase_add_test(t, one_learns_from_another);
  tcase_add_test(t, what_was_freed_is_learnt);
  tcase_add_test(t, single_pages_are_given_up);
  tcase_add_test(t, huge_pages_come_whole);
  suite_add_tcase(s, t);
  return check_run(s);
}
