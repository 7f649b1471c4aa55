/* Contexts of few pages are moved together, others alone. */
#define _GNU_SOURCE
#include "context/residency/swap.h"

#include "../store/store_contexts.h"
#include "base/counters.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/internal.h"
#include "context/residency/ledger.h"
#include "context/residency/moves.h"
#include "context/residency/residency.h"
#include "context/store/crate.h"
#include "os/native.h"

#include <errno.h>

enum { N = 6, BLOCKS = 3 };

static char *p[N]; /* heap memory of each */
static char *buffer;
static int ends[2]; /* of a pipe */

/* Context i gets n bytes. */
static void use(int i, size_t n) {
  struct context *const c = context_get(i);
  context_acquire(c);
  p[i] = context_alloc(c, n, PAGE);
  ck_assert_ptr_nonnull(p[i]);
  memset(p[i], 'A' + i, n);
  context_release(c);
}

static void start(size_t bytes) {
  make_dir();
  create("unix", N, 8 * MIB, 64 * MIB);
  buffer = native_aligned(PAGE, CRATE_BUFFER);
  ck_assert_ptr_nonnull(buffer);
  ck_assert_int_eq(pipe(ends), 0);
  for (int i = 0; i < N; i++) {
    use(i, bytes);
  }
}

static void end(void) {
  native_free(buffer);
  close(ends[0]);
  close(ends[1]);
  remove_all();
}

/* As a mover does. */
static void leave_all(void) {
  struct context *c[N];
  ledger_lock();
  for (int i = 0; i < N; i++) {
    c[i] = context_get(N - 1 - i);
    ledger_leave_locked(c[i]);
  }
  ledger_unlock();
  contexts_swap_out(c, N, buffer);
  moves_went(c, N);
}

static void want_all(void) {
  for (int i = 0; i < N; i++) {
    (void)context_want_soon(context_get(i), (uint64_t)i + 1);
  }
  contexts_tell_wanted();
}

static bool accessible(const char *at) {
  const bool yes = write(ends[1], at, 1) == 1;
  ck_assert(yes || errno == EFAULT);
  return yes;
}

static void expect(int i, size_t from, size_t n, char what) {
  for (size_t at = from; at < from + n; at++) {
    ck_assert_int_eq(p[i][at], what);
  }
}

static void expect_all(size_t n) {
  for (int i = 0; i < N; i++) {
    struct context *const c = context_get(i);
    context_acquire(c);
    expect(i, 0, n, (char)('A' + i));
    for (size_t at = 0; at < data_len; at++) {
      ck_assert_int_eq(data[i][at], 'a' + i);
    }
    ck_assert(!crate_has(c));
    context_release(c);
  }
}

/* 1: on a system that cannot guard pages. */
START_TEST(those_of_few_pages_go_together) {
  start(BLOCKS * PAGE);
  if (_i) {
    pages_survey_end();
  }
  for (int round = 0; round < 3; round++) {
    const uint64_t writes = counter_get(writes);
    leave_all();
    ck_assert_uint_eq(counter_get(writes), writes + 1);
    for (int i = 0; i < N; i++) {
      struct context *const c = context_get(i);
      ck_assert_int_eq(c->state, CONTEXT_OUT);
      ck_assert(crate_has(c));
      ck_assert(!accessible(p[i]) && !accessible(data[i]));
    }
    const uint64_t reads = counter_get(reads);
    want_all();
    expect_all(BLOCKS * PAGE);
    ck_assert_uint_eq(counter_get(reads), reads + 1);
  }
  end();
}
END_TEST

static void move(struct context *c, const char *at, void *memory, bool out) {
  struct store_batch b;
  store_begin(&b, c);
  if (out) {
    store_start_write(&b, (uintptr_t)at, memory, PAGE);
    store_wrote(c, (uintptr_t)at, (uintptr_t)at + PAGE);
  } else {
    store_start_read(&b, (uintptr_t)at, memory, PAGE);
  }
  store_wait(&b, "trying");
}

START_TEST(messages_find_them) {
  start(BLOCKS * PAGE);
  struct context *const c = context_get(2);
  context_acquire(c);
  char *const other = context_alloc(c, 2 * PAGE, PAGE); /* never touched */
  context_release(c);
  leave_all();
  context_pin(c);
  move(c, p[2] + PAGE, buffer, false);
  ck_assert_int_eq(buffer[0], 'C');
  ck_assert_int_eq(buffer[PAGE - 1], 'C');
  memset(buffer, '!', PAGE);
  move(c, p[2] + PAGE, buffer, true);
  move(c, other, buffer, true);
  memset(buffer, 0, PAGE);
  move(c, p[2] + PAGE, buffer, false);
  ck_assert_int_eq(buffer[PAGE - 1], '!');
  context_unpin(c);
  context_acquire(c);
  expect(2, 0, PAGE, 'C');
  expect(2, PAGE, PAGE, '!');
  expect(2, 2 * PAGE, PAGE, 'C');
  for (size_t at = 0; at < 2 * PAGE; at++) {
    ck_assert_int_eq(other[at], at < PAGE ? '!' : 0);
  }
  context_release(c);
  end();
}
END_TEST

START_TEST(those_of_many_pages_go_alone) {
  start(CRATE_MOST + PAGE);
  leave_all();
  for (int i = 0; i < N; i++) {
    ck_assert(!crate_has(context_get(i)));
    ck_assert(!accessible(p[i]));
  }
  want_all();
  expect_all(CRATE_MOST + PAGE);
  end();
}
END_TEST

/* Large ones are ahead: when these have gone on, the small one comes. */
START_TEST(small_ones_come_behind_large_ones) {
  enum { LARGE = 3 };
  start(PAGE);
  leave_all();
  for (int i = 0; i < LARGE; i++) {
    use(i, 2 * MIB);
    (void)context_want(context_get(i), (uint64_t)i + 1);
  }
  (void)context_want(context_get(LARGE), LARGE + 1);
  usleep(50000); /* movers have looked */
  for (int i = 0; i < LARGE; i++) {
    ck_assert(context_try_acquire(context_get(i)));
  }
  while (context_get(LARGE)->state != CONTEXT_IN) {
    usleep(1000);
  }
  end();
}
END_TEST

/* More often than there is room for. */
START_TEST(crates_are_used_again) {
  start(PAGE);
  leave_all();
  for (int round = 0; round < 100; round++) {
    for (int i = 0; i < N; i += 2) {
      struct context *c = context_get(i);
      context_acquire(c);
      expect(i, 0, PAGE, (char)('A' + i));
      context_release(c);
      ledger_lock();
      ledger_leave_locked(c);
      ledger_unlock();
      contexts_swap_out(&c, 1, buffer);
      moves_went(&c, 1);
      ck_assert(crate_has(c));
    }
  }
  end();
}
END_TEST

/* Of 6 MiB three pages are to be written: the rest does not wait for that. */
START_TEST(what_need_not_be_written_is_given_back) {
  enum { ALL = 6 << 20 };
  static const size_t used[] = {0, 3 << 20, ALL - PAGE};
  start(PAGE);
  struct context *c = context_get(1);
  context_acquire(c);
  char *const all = context_alloc(c, ALL, PAGE);
  for (int i = 0; i < 3; i++) {
    memset(all + used[i], '1' + i, PAGE);
  }
  context_release(c);
  const uint64_t before = contexts_resident_bytes(), charge = c->charge;
  ck_assert_uint_gt(charge, ALL);
  ledger_lock();
  ledger_leave_locked(c);
  ledger_unlock();
  contexts_swap_out(&c, 1, NULL);
  ck_assert_int_eq(c->state, CONTEXT_GOING);
  ck_assert_uint_lt(c->charge, ALL / 2);
  ck_assert_uint_eq(ledger.going, c->charge);
  ck_assert_uint_eq(contexts_resident_bytes(), before - charge + c->charge);
  moves_went(&c, 1);
  ck_assert_uint_eq(contexts_resident_bytes(), before - charge);
  ck_assert(!accessible(all + ALL / 2) && !accessible(all));
  context_acquire(c);
  expect(1, 0, PAGE, 'B');
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(all[used[i]], '1' + i);
    ck_assert_int_eq(all[used[i] + PAGE - 1], '1' + i);
  }
  ck_assert_int_eq(all[ALL / 4], 0);
  context_release(c);
  end();
}
END_TEST

int main(void) {
  Suite *const s = suite_create("swap");
  TCase *const t = tcase_create("swap");
  tcase_add_loop_test(t, those_of_few_pages_go_together, 0, 2);
  tcase_add_test(t, messages_find_them);
  tcase_add_test(t, those_of_many_pages_go_alone);
  tcase_add_test(t, small_ones_come_behind_large_ones);
  tcase_add_test(t, crates_are_used_again);
  tcase_add_test(t, what_need_not_be_written_is_given_back);
  suite_add_tcase(s, t);
  return check_run(s);
}
