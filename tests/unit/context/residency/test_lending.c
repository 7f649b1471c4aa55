/* Shares that contexts have until their consumers want them. */
#define _GNU_SOURCE
#include "context/residency/lending.h"

#include "../store/store_contexts.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/internal.h"
#include "context/residency/ledger.h"
#include "context/residency/mover.h"
#include "context/residency/moves.h"
#include "context/residency/residency.h"
#include "context/residency/swap.h"

#define USE MEMORY_LETTERS

/* One context in 40 MiB, the test is the mover; `least` of 8 MiB are kept. */
static void begin(uint64_t least) {
  make_dir();
  create("unix", 2, 32 * MIB, 40 * MIB);
  movers_stop();
  moves_end();
  ck_assert_int_eq(moves_start(), 0);
  lending_add(USE, 8 * MIB, least);
}

static void end(void) {
  remove_all();
}

static uint64_t repay(void) {
  ledger_lock();
  const uint64_t missing = lending_repay_locked();
  ledger_unlock();
  return missing;
}

static void fill(int i, size_t n) {
  context_acquire(context_get(i));
  char *const p = context_alloc(context_get(i), n, PAGE);
  ck_assert_ptr_nonnull(p);
  memset(p, 'a' + i, n);
  context_release(context_get(i));
}

START_TEST(contexts_have_what_is_idle) {
  begin(2 * MIB);
  ck_assert_uint_eq(contexts.budget, 46 * MIB);
  ck_assert_uint_eq(contexts_room(), 46 * MIB);
  ck_assert_uint_eq(contexts_own_room(), 40 * MIB);
  ck_assert_uint_eq(memory_used_bound(USE, 8 * MIB), 2 * MIB);
  lending_add(MEMORY_STAGING, MIB, MIB); /* all of it is kept */
  ck_assert_uint_eq(contexts.budget, 46 * MIB);
  end();
  ck_assert_uint_eq(memory_used_bound(USE, 8 * MIB), 8 * MIB);
}
END_TEST

START_TEST(a_consumer_gets_back_what_is_free) {
  begin(2 * MIB);
  const uint64_t before = contexts_resident_bytes();
  ck_assert(memory_used_take(USE, MIB, 8 * MIB));
  ck_assert(!memory_used_wanted());
  ck_assert_uint_eq(repay(), 0);
  ck_assert_uint_eq(contexts_resident_bytes(), before);
  ck_assert(memory_used_take(USE, 1, 8 * MIB));
  ck_assert(memory_used_wants(USE));
  ck_assert_uint_eq(repay(), 0);
  ck_assert(!memory_used_wanted());
  ck_assert_uint_eq(memory_used_bound(USE, 8 * MIB), 4 * MIB);
  ck_assert_uint_eq(contexts_room(), 44 * MIB);
  ck_assert_uint_eq(contexts_own_room(), 40 * MIB);
  ck_assert_uint_eq(contexts_resident_bytes(), before + 2 * MIB);
  /* Refused, and wanted therefore. */
  ck_assert(!memory_used_take(USE, 4 * MIB, 8 * MIB));
  ck_assert_uint_eq(repay(), 0);
  ck_assert_uint_eq(memory_used_bound(USE, 8 * MIB), 6 * MIB);
  ck_assert(memory_used_take(USE, 4 * MIB, 8 * MIB));
  ck_assert_uint_eq(repay(), 0);
  ck_assert_uint_eq(memory_used_bound(USE, 8 * MIB), 8 * MIB);
  ck_assert(!memory_used_take(USE, 4 * MIB, 8 * MIB)); /* that is its share */
  ck_assert(!memory_used_wanted());
  memory_used_sub(USE, 5 * MIB + 1);
  end();
}
END_TEST

START_TEST(contexts_leave_for_a_consumer) {
  begin(2 * MIB);
  fill(0, 20 * MIB);
  fill(1, 20 * MIB);
  ck_assert_int_eq(context_get(0)->state, CONTEXT_IN);
  memory_used_add(USE, 2 * MIB);
  ck_assert_uint_eq(repay(), 2 * MIB);
  ck_assert_uint_eq(memory_used_bound(USE, 8 * MIB), 2 * MIB);
  struct context *c = NULL;
  int n = 0;
  ck_assert_int_eq(moves_next(&c, 1, &n), MOVE_OUT);
  contexts_swap_out(&c, 1, NULL);
  moves_went(&c, 1);
  ck_assert_uint_eq(repay(), 0);
  ck_assert_uint_eq(memory_used_bound(USE, 8 * MIB), 4 * MIB);
  ck_assert_uint_le(contexts_resident_bytes(), contexts.budget);
  memory_used_sub(USE, 2 * MIB);
  end();
}
END_TEST

/* Half of the budget, and that of a step, are all that others may have. */
START_TEST(copies_of_libraries_come_first) {
  begin(2 * MIB);
  ck_assert_int_eq(residency_beside(22 * MIB), 0);
  memory_used_add(USE, 2 * MIB);
  ck_assert_uint_eq(repay(), 0);
  ck_assert_uint_eq(memory_used_bound(USE, 8 * MIB), 2 * MIB);
  ck_assert(!memory_used_wanted()); /* until it takes more */
  ck_assert(!memory_used_take(USE, MIB, 8 * MIB));
  ck_assert(memory_used_wanted());
  memory_used_sub(USE, 2 * MIB);
  residency_not_beside(22 * MIB);
  end();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      contexts_have_what_is_idle, a_consumer_gets_back_what_is_free,
      contexts_leave_for_a_consumer, copies_of_libraries_come_first, NULL};
  return check_main("lending", tests);
}
