/* Room for those that run, and for what is delivered to those that wait. */
#define _GNU_SOURCE
#include "context/residency/room.h"

#include "../store/store_contexts.h"
#include "base/self.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/delivery/access.h"
#include "context/delivery/delivery.h"
#include "context/internal.h"
#include "context/residency/ledger.h"
#include "context/residency/residency.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { SIZE = 24 << 20 };

/* Context i gets memory, of which it touches little. */
static char *use(int i) {
  struct context *const c = context_get(i);
  context_acquire(c);
  char *const p = context_alloc(c, SIZE, 4096);
  for (size_t at = 0; at < SIZE; at += MIB) {
    p[at] = 1;
  }
  context_release(c);
  return p;
}

START_TEST(who_runs_has_all_that_it_needs) {
  create("unix", 2, 32 * MIB, 40 * MIB);
  (void)use(0);
  (void)use(1);
  ledger_lock();
  ck_assert(!room_hold_locked(context_get(0))); /* it is idle */
  room_hold_again_locked(context_get(0));
  ck_assert(context_get(0)->held);
  ck_assert_uint_ge(context_get(0)->charge, SIZE);
  ledger_unlock();
  context_release(context_get(0));
}
END_TEST

/* A message of `bytes` to the middle of context 0, which waits. */
static void deliver(char *p, size_t bytes) {
  char *const in = malloc(bytes);
  memset(in, 'm', bytes);
  context_write(context_get(0), p + SIZE / 2 + 100, in, bytes);
  free(in);
  context_acquire(context_get(0));
  ck_assert_int_eq(p[SIZE / 2 + 99], 0);
  ck_assert_int_eq(p[SIZE / 2 + 100], 'm');
  ck_assert_int_eq(p[SIZE / 2 + 99 + bytes], 'm');
  context_release(context_get(0));
}

START_TEST(what_is_delivered_counts) {
  create("unix", 2, 32 * MIB, 40 * MIB);
  char *const p = use(0);
  (void)use(1);
  const struct context *const c = context_get(0);
  ck_assert(c->idle);
  const uint64_t before = c->charge;
  context_pin_to_write(context_get(0), 2 * MIB);
  ck_assert_uint_eq(c->charge, before + 2 * MIB);
  context_unpin(context_get(0));
  deliver(p, MIB);
}
END_TEST

/* The other one runs: who is delivered to leaves memory. */
START_TEST(what_does_not_fit_goes_to_disk) {
  create("unix", 2, 32 * MIB, 34 * MIB);
  char *const p = use(0);
  (void)use(1);
  context_acquire(context_get(1));
  ck_assert(context_get(0)->idle);
  context_pin_to_write(context_get(0), 11 * MIB);
  ck_assert_int_eq(context_get(0)->state, CONTEXT_OUT);
  context_unpin(context_get(0));
  ck_assert_uint_le(contexts_resident_bytes(), 34 * MIB);
  context_release(context_get(1));
  deliver(p, 11 * MIB);
}
END_TEST

static void *write_patiently(void *done) {
  context_pin_to_write(context_get(0), 11 * MIB);
  *(_Atomic bool *)done = true;
  context_unpin(context_get(0));
  return NULL;
}

/* Others have it pinned: who may wait does so until they let go. */
START_TEST(who_cannot_leave_is_waited_for) {
  static _Atomic bool done;
  pthread_t thread;
  create("unix", 2, 32 * MIB, 34 * MIB);
  (void)use(0);
  (void)use(1);
  context_acquire(context_get(1));
  context_pin(context_get(0));
  const uint64_t before = contexts_resident_bytes();
  ck_assert(!context_try_pin_to_write(context_get(0), 11 * MIB));
  ck_assert_int_eq(pthread_create(&thread, NULL, write_patiently, &done), 0);
  usleep(50000);
  ck_assert(!done);
  ck_assert_uint_eq(contexts_resident_bytes(), before);
  context_unpin(context_get(0));
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert(done);
  ck_assert_int_eq(context_get(0)->state, CONTEXT_OUT);
  ck_assert_uint_le(contexts_resident_bytes(), 34 * MIB);
  context_release(context_get(1));
}
END_TEST

/* What a delivery has under way itself does not stand in its way. */
START_TEST(a_delivery_waits_for_its_own_first) {
  struct delivery d;
  create("unix", 2, 32 * MIB, 34 * MIB);
  char *const p = use(0);
  char *const q = use(1);
  context_acquire(context_get(1));
  ck_assert(context_get(0)->idle);
  delivery_begin(&d);
  context_pin(context_get(0));
  d.half[0].user[0].context = context_get(0);
  store_begin(&d.half[0].user[0].reading, context_get(0));
  store_begin(&d.half[0].user[0].writing, context_get(0));
  d.half[0].users = 1;
  delivery_pair(&d, context_get(1), context_get(0), 11 * MIB);
  delivery_write(&d, context_get(0), p, q, 11 * MIB, true);
  delivery_unpair(&d);
  delivery_end(&d);
  ck_assert_int_eq(context_get(0)->pins, 0);
  ck_assert_uint_le(contexts_resident_bytes(), 34 * MIB);
  context_release(context_get(1));
}
END_TEST

/* Fills context i. */
static char *fill(int i) {
  char *const p = context_alloc(context_get(i), SIZE, 4096);
  memset(p, i + 1, SIZE);
  return p;
}

/* Who must not wait gets what is free; who waits then has it when another has
   left. */
START_TEST(what_is_asked_for_at_once_is_there_or_comes_later) {
  bool lacking;
  create("unix", 2, 32 * MIB, 36 * MIB);
  struct context *const c = context_get(0);
  context_acquire(context_get(1));
  (void)fill(1);
  context_release(context_get(1));
  context_acquire(c);
  ck_assert_ptr_nonnull(context_alloc_now(c, 4 * MIB, 4096, &lacking));
  ck_assert(!lacking);
  const uint64_t charged = c->charge;
  ck_assert_ptr_null(context_alloc_now(c, 20 * MIB, 4096, &lacking));
  ck_assert(lacking);
  ck_assert_uint_eq(c->charge, charged);
  ck_assert_int_eq(context_get(1)->state, CONTEXT_IN);
  ck_assert(residency_charge(c));
  ck_assert_int_eq(context_get(1)->state, CONTEXT_OUT);
  ck_assert_ptr_nonnull(context_alloc_now(c, 20 * MIB, 4096, &lacking));
  ck_assert(!lacking);
  ck_assert_ptr_null(context_alloc_now(c, 64 * MIB, 4096, &lacking));
  ck_assert(!lacking); /* there will never be */
  context_release(c);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("room");
  TCase *const t = tcase_create("room");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, make_dir, remove_all);
  tcase_add_test(t, who_runs_has_all_that_it_needs);
  tcase_add_test(t, what_is_delivered_counts);
  tcase_add_test(t, what_does_not_fit_goes_to_disk);
  tcase_add_test(t, who_cannot_leave_is_waited_for);
  tcase_add_test(t, a_delivery_waits_for_its_own_first);
  tcase_add_test(t, what_is_asked_for_at_once_is_there_or_comes_later);
  suite_add_tcase(s, t);
  return check_run(s);
}
