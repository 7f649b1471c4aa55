/* Who comes in next, and who leaves for that. */
#define _GNU_SOURCE
#include "context/residency/moves.h"

#include "../store/store_contexts.h"
#include "base/counters.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/internal.h"
#include "context/residency/ledger.h"
#include "context/residency/mover.h"
#include "context/residency/residency.h"
#include "context/residency/swap.h"

#include <pthread.h>
#include <time.h>

enum { SIZE = 24 << 20 };

static char *p[MOST_CONTEXTS];

/* Room for one of them; the test is the mover. */
static void begin(int n) {
  make_dir();
  create("unix", n, 32 * MIB, 40 * MIB);
  movers_stop();
  moves_end();
  ck_assert_int_eq(moves_start(), 0);
  for (int i = 0; i < n; i++) {
    context_acquire(context_get(i));
    p[i] = context_alloc(context_get(i), SIZE, PAGE);
    ck_assert_ptr_nonnull(p[i]);
    memset(p[i], 'a' + i, SIZE);
    context_release(context_get(i));
  }
}

static uint64_t loads(void) {
  ledger_lock();
  const uint64_t n = moves_loads_locked();
  ledger_unlock();
  return n;
}

/* The next is to be `move`, of context i; makes it. */
static void expect(enum move move, int i) {
  struct context *c = NULL;
  int n = 0;
  ck_assert_int_eq(moves_next(&c, 1, &n), move);
  ck_assert_int_eq(n, 1);
  ck_assert_ptr_eq(c, context_get(i));
  if (move == MOVE_OUT) {
    ck_assert_int_eq(c->state, CONTEXT_GOING);
    contexts_swap_out(&c, 1, NULL);
    moves_went(&c, 1);
    ck_assert_int_eq(c->state, CONTEXT_OUT);
  } else {
    ck_assert_int_eq(c->state, CONTEXT_COMING);
    contexts_swap_in(&c, 1, NULL, moves_took_frames);
    moves_came(&c, 1);
    ck_assert_int_eq(c->state, CONTEXT_IN);
  }
}

static void run(int i) {
  ck_assert(context_try_acquire(context_get(i)));
  context_release(context_get(i));
}

START_TEST(one_leaves_for_who_is_wanted) {
  begin(2);
  ck_assert_int_eq(context_get(0)->state, CONTEXT_OUT);
  const uint64_t before = loads();
  ck_assert(!context_want(context_get(0), 1));
  expect(MOVE_OUT, 1);
  expect(MOVE_IN, 0);
  ck_assert_uint_eq(loads(), before + 1);
  ck_assert_uint_le(contexts_resident_bytes(), 40 * MIB);
  ck_assert(context_try_acquire(context_get(0)));
  ck_assert(context_was_read(context_get(0)));
  ck_assert(!context_was_read(context_get(0)));
  ck_assert_int_eq(p[0][SIZE - 1], 'a');
  context_release(context_get(0));
  remove_all();
}
END_TEST

/* Whatever their number; and when it has run, the other's turn comes. */
START_TEST(the_first_in_turn_comes_first) {
  begin(3);
  ck_assert(!context_want(context_get(0), 7));
  ck_assert(!context_want(context_get(1), 3));
  expect(MOVE_OUT, 2);
  expect(MOVE_IN, 1);
  run(1);
  expect(MOVE_OUT, 1);
  expect(MOVE_IN, 0);
  remove_all();
}
END_TEST

/* What is pinned on disk does not come, however it is wanted. */
START_TEST(who_is_pinned_stays_where_it_is) {
  begin(3);
  context_pin(context_get(0));
  ck_assert(!context_want(context_get(0), 1));
  ck_assert(!context_want(context_get(1), 2));
  expect(MOVE_OUT, 2);
  expect(MOVE_IN, 1);
  context_unpin(context_get(0));
  run(1);
  expect(MOVE_OUT, 1);
  expect(MOVE_IN, 0);
  remove_all();
}
END_TEST

static void *wait_for_move(void *move) {
  struct context *c;
  int n;
  *(enum move *)move = moves_next(&c, 1, &n);
  return NULL;
}

START_TEST(movers_without_work_end_when_they_are_to) {
  enum move move = MOVE_IN;
  pthread_t thread;
  begin(2);
  ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_move, &move), 0);
  moves_stop();
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert_int_eq(move, MOVE_NONE);
  remove_all();
}
END_TEST

static bool starved(void) {
  return contexts_starved();
}

static bool eventually(bool (*condition)(void)) {
  const struct timespec pause = {0, 1000000};
  int tries = 0;
  while (!condition() && tries++ < 60000) {
    nanosleep(&pause, NULL);
  }
  return condition();
}

/* A VP that runs keeps another from memory; it is told, and gives way. */
START_TEST(who_holds_the_only_place_is_in_the_way) {
  enum move move = MOVE_NONE;
  pthread_t thread;
  begin(2);
  ck_assert(context_try_acquire(context_get(1)));
  ck_assert(!contexts_starved());
  ck_assert(!context_want(context_get(0), 1));
  ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_move, &move), 0);
  ck_assert(eventually(starved));
  context_release(context_get(1));
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert_int_eq(move, MOVE_OUT);
  ck_assert(!contexts_starved());
  ck_assert_uint_eq(counter_get(starved), 1);
  struct context *c = context_get(1);
  contexts_swap_out(&c, 1, NULL);
  moves_went(&c, 1);
  expect(MOVE_IN, 0);
  remove_all();
}
END_TEST

int main(void) {
  return check_main(
      "moves", (const TTest *[]){one_leaves_for_who_is_wanted,
                                 the_first_in_turn_comes_first,
                                 who_is_pinned_stays_where_it_is,
                                 movers_without_work_end_when_they_are_to,
                                 who_holds_the_only_place_is_in_the_way, NULL});
}
