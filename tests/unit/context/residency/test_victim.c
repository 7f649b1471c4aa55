/* Who leaves memory, and who stays there for less. */
#define _GNU_SOURCE
#include "context/residency/victim.h"

#include "../store/store_contexts.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/internal.h"
#include "context/residency/ledger.h"
#include "context/residency/residency.h"

enum { SIZE = 24 << 20 };

/* Context i gets memory, of which it touches every STEP-th byte. */
static char *use(int i, size_t step) {
  struct context *const c = context_get(i);
  context_acquire(c);
  char *const p = context_alloc(c, SIZE, 4096);
  ck_assert_ptr_nonnull(p);
  for (size_t at = 0; at < SIZE; at += step) {
    p[at] = (char)('a' + i);
  }
  context_release(c);
  return p;
}

START_TEST(who_touches_little_stays) {
  create("unix", 4, 32 * MIB, 40 * MIB);
  char *p[4];
  for (int i = 0; i < 4; i++) {
    p[i] = use(i, MIB);
  }
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(context_get(i)->state, CONTEXT_IN);
  }
  ck_assert_int_eq(ledger.idle, 3);
  ck_assert_int_eq(ledger.out, 0);
  ck_assert_uint_le(contexts_resident_bytes(), 40 * MIB);
  for (int i = 0; i < 4; i++) { /* each in its turn has all that it needs */
    struct context *const c = context_get(i);
    context_acquire(c);
    ck_assert_uint_ge(c->charge, SIZE);
    ck_assert_int_eq(p[i][MIB], 'a' + i);
    context_release(c);
  }
  ck_assert_int_eq(ledger.out, 0);
}
END_TEST

START_TEST(who_touches_much_leaves) {
  create("unix", 2, 32 * MIB, 40 * MIB);
  (void)use(0, PAGE);
  (void)use(1, PAGE);
  ck_assert_int_eq(context_get(0)->state, CONTEXT_OUT);
  ck_assert_int_eq(ledger.idle, 0);
  /* It is not looked at again before it has run some more times. */
  ck_assert_uint_gt(context_get(0)->measure.rest, 0);
}
END_TEST

/* It fills up while others run: then it counts in full, and leaves. */
START_TEST(who_becomes_dense_leaves) {
  create("unix", 3, 32 * MIB, 40 * MIB);
  char *const p = use(0, MIB);
  (void)use(1, MIB);
  ck_assert(context_get(0)->idle);
  context_acquire(context_get(0));
  ck_assert(!context_get(0)->idle);
  memset(p, 'z', SIZE);
  context_release(context_get(0));
  (void)use(2, MIB);
  ck_assert_int_eq(context_get(0)->state, CONTEXT_OUT);
  ck_assert_int_eq(context_get(1)->state, CONTEXT_IN);
  context_acquire(context_get(0));
  ck_assert_int_eq(p[SIZE - 1], 'z');
  context_release(context_get(0));
}
END_TEST

/* With the others' charge it would not fit: who is of no help stays. */
START_TEST(nobody_leaves_in_vain) {
  create("unix", 3, 32 * MIB, 40 * MIB);
  (void)use(0, MIB);
  (void)use(1, MIB);
  context_acquire(context_get(1));
  ledger_lock();
  ck_assert_ptr_null(victim_find_locked(NULL, 24 * MIB, false));
  ck_assert_ptr_null(victim_find_locked(NULL, MIB, false)); /* it fits */
  ledger_unlock();
  context_release(context_get(1));
  ledger_lock();
  ck_assert_ptr_eq(victim_find_locked(NULL, 24 * MIB, false), context_get(1));
  ledger_unlock();
}
END_TEST

static bool never(const struct context *c) {
  (void)c;
  return false;
}

START_TEST(who_has_threads_that_run_stays) {
  create("unix", 2, 32 * MIB, 40 * MIB);
  (void)use(0, PAGE);
  victim_on_leaving(never);
  ledger_lock();
  struct context *const c = victim_find_locked(NULL, 32 * MIB, false);
  ck_assert_ptr_eq(c, context_get(0));
  ck_assert(victim_looked_at_locked(c));
  ck_assert_ptr_ne(victim_find_locked(NULL, 32 * MIB, false), c);
  ck_assert(victim_refused_locked());
  ck_assert(!victim_let_go_soon_locked(c));
  ledger_unlock();
  victim_on_leaving(NULL);
}
END_TEST

static int asked;

static bool never_counted(const struct context *c) {
  (void)c;
  asked++;
  return false;
}

/* Where every context that waits is moved: not if a thread goes on. */
START_TEST(who_goes_on_is_not_waited_for) {
  create("unix", 2, 32 * MIB, 40 * MIB);
  (void)use(0, PAGE);
  struct context *const c = context_get(0);
  contexts.evict_always = true;
  victim_on_leaving(never_counted);
  context_acquire(c);
  context_release_awake(c);
  ck_assert_int_eq(asked, 0);
  context_acquire(c);
  context_release(c);
  ck_assert_int_gt(asked, 0);
  ck_assert_int_eq(c->state, CONTEXT_IN);
  victim_on_leaving(NULL);
  contexts.evict_always = false;
}
END_TEST

int main(void) {
  Suite *const s = suite_create("victim");
  TCase *const t = tcase_create("victims");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, make_dir, remove_all);
  tcase_add_test(t, who_touches_little_stays);
  tcase_add_test(t, who_touches_much_leaves);
  tcase_add_test(t, who_becomes_dense_leaves);
  tcase_add_test(t, nobody_leaves_in_vain);
  tcase_add_test(t, who_has_threads_that_run_stays);
  tcase_add_test(t, who_goes_on_is_not_waited_for);
  suite_add_tcase(s, t);
  return check_run(s);
}
