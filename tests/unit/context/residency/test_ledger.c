/* What contexts are charged, and which of them change by themselves. */
#define _GNU_SOURCE
#include "context/residency/ledger.h"

#include "check_main.h"
#include "context/internal.h"

static struct context c;

static void begin(void) {
  contexts = (struct contexts){.n = 1, .item = &c, .mu = 100, .budget = 150};
  c = (struct context){.state = CONTEXT_IN, .need = 80};
  ledger_start();
  ledger_lock();
}

static void end(void) {
  ledger_unlock();
  contexts = (struct contexts){0};
}

START_TEST(charges_add_up) {
  ck_assert_uint_eq(ledger_with_shared(101, 0), 100);
  ledger_charge_locked(&c, 80);
  ck_assert_uint_eq(ledger.used, 80);
  ck_assert(ledger_fits_locked(70));
  ck_assert(!ledger_fits_locked(71));
  ledger_uncharge_locked(&c, 30);
  ck_assert_uint_eq(c.charge, 50);
  ledger_leave_locked(&c);
  ck_assert_uint_eq(ledger.going, 50);
  ck_assert_int_eq(ledger.out, 1);
  ledger_gone_locked(&c);
  ck_assert_uint_eq(ledger.going, 0);
  ck_assert_uint_eq(ledger.used, 0);
  ck_assert_int_eq(c.state, CONTEXT_OUT);
}
END_TEST

START_TEST(what_lacks_is_noted) {
  struct context two[2] = {{.state = CONTEXT_IN, .need = 80},
                           {.state = CONTEXT_OUT, .need = 90, .shared = 5}};
  contexts.n = 2;
  contexts.item = two;
  ledger_note_lacked_locked();
  ck_assert_uint_eq(ledger.lacked, 80 + 95 - 150);
  two[1].need = 60; /* the most counts */
  ledger_note_lacked_locked();
  ck_assert_uint_eq(ledger.lacked, 25);
}
END_TEST

START_TEST(who_goes_gives_back_what_it_can) {
  ledger_charge_locked(&c, 80);
  c.shared = 10;
  ledger_leave_locked(&c);
  ledger_unlock();
  ledger_gave_back(&c, 20);
  ledger_gave_back(&c, 40); /* it has that no more */
  ledger_lock();
  ck_assert_uint_eq(c.charge, 30);
  ck_assert_uint_eq(ledger.used, 30);
  ck_assert_uint_eq(ledger.going, 30);
  ledger_gone_locked(&c);
  ck_assert_uint_eq(ledger.used, 0);
  ck_assert_uint_eq(ledger.going, 0);
}
END_TEST

/* What is shared comes on top of what a context may need. */
START_TEST(what_is_shared_passes_to_another) {
  struct context other = {.state = CONTEXT_GOING, .need = 20, .shared = 30};
  c.shared = 30;
  ck_assert_uint_eq(ledger_needed_locked(&c), 110);
  ck_assert_uint_eq(ledger_with_shared(120, 30), 130);
  ck_assert_uint_eq(ledger_with_shared(120, 60), 150);
  ledger_charge_locked(&c, 110);
  ledger_charge_locked(&other, 20);
  c.shared = 0;
  ledger_pass_locked(&c, &other, 30);
  ck_assert_uint_eq(c.charge, 80);
  ck_assert_uint_eq(other.charge, 50);
  ck_assert_uint_eq(ledger.going, 30);
  ck_assert_uint_eq(ledger.used, 130);
  ledger_pass_locked(&c, &other, 30); /* it has all that it needs */
  ck_assert_uint_eq(c.charge, 80);
  other.shared = 0;
  other.state = CONTEXT_IN;
  ledger_settle_locked(&other);
  ck_assert_uint_eq(other.charge, 20);
  ck_assert_uint_eq(ledger.used, 100);
}
END_TEST

START_TEST(who_is_idle_is_not_ready) {
  ledger_charge_locked(&c, 80);
  ck_assert(ledger_ready_locked(&c));
  ledger_set_idle_locked(&c, 10);
  ck_assert_uint_eq(ledger.used, 10);
  ck_assert_int_eq(ledger.idle, 1);
  ck_assert(!ledger_ready_locked(&c));
  ledger_charge_locked(&c, 69); /* something was delivered */
  ck_assert(!ledger_ready_locked(&c));
  ledger_charge_locked(&c, 1);
  ck_assert(ledger_ready_locked(&c));
  ck_assert_int_eq(ledger.idle, 0);
  ledger_set_idle_locked(&c, 10);
  ledger_leave_locked(&c);
  ck_assert_int_eq(ledger.idle, 0);
  ck_assert_uint_eq(ledger.going, 10);
  ledger_gone_locked(&c);
}
END_TEST

START_TEST(busy_ones_are_counted_once) {
  c.held = true;
  ledger_note_locked(&c);
  c.pins = 2;
  ledger_note_locked(&c);
  ck_assert_int_eq(ledger.busy, 1);
  c.growing = 1;
  ledger_note_locked(&c);
  ck_assert_int_eq(ledger.busy, 0);
  c.growing = c.pins = 0;
  c.held = false;
  ledger_leave_locked(&c);
  ck_assert_int_eq(ledger.busy, 1);
  ledger_gone_locked(&c);
  ck_assert_int_eq(ledger.busy, 0);
}
END_TEST

START_TEST(copies_of_libraries_leave_less_for_contexts) {
  ledger_charge_locked(&c, 80);
  ck_assert(ledger_beside_locked(60));
  ck_assert_uint_eq(ledger.used, 140);
  ck_assert(ledger_fits_locked(10));
  ck_assert(!ledger_fits_locked(11));
  ck_assert_uint_eq(ledger_with_shared(100, 0),
                    90); /* one of them fits always */
  ck_assert(ledger_beside_locked(15));
  ck_assert_uint_eq(c.charge, 75); /* what it had more cannot be counted */
  ck_assert_uint_eq(ledger.used, 75 + 75);
  ledger_not_beside_locked(75);
  ck_assert_uint_eq(ledger.used, 75);
  ck_assert_uint_eq(ledger_with_shared(101, 0), 100);
}
END_TEST

static bool by_need(const struct context *a, const struct context *b) {
  return a->need < b->need;
}

START_TEST(the_first_are_listed_in_order) {
  static const uint64_t needs[] = {5, 3, 9, 3, 1, 8}, least[] = {1, 3, 3, 5};
  struct context all[6], *list[4];
  int n = 0;
  for (int i = 0; i < 6; i++) {
    all[i] = (struct context){.need = needs[i]};
    ledger_insert(list, &n, 4, &all[i], by_need);
    ck_assert_int_eq(n, i < 4 ? i + 1 : 4);
  }
  for (int i = 0; i < n; i++) {
    ck_assert_uint_eq(list[i]->need, least[i]);
  }
  ck_assert_ptr_eq(list[1], &all[1]); /* equal ones as they came */
}
END_TEST

int main(void) {
  Suite *const s = suite_create("ledger");
  TCase *const t = tcase_create("charges");
  tcase_add_checked_fixture(t, begin, end);
  tcase_add_test(t, charges_add_up);
  tcase_add_test(t, what_lacks_is_noted);
  tcase_add_test(t, who_goes_gives_back_what_it_can);
  tcase_add_test(t, what_is_shared_passes_to_another);
  tcase_add_test(t, who_is_idle_is_not_ready);
  tcase_add_test(t, busy_ones_are_counted_once);
  tcase_add_test(t, copies_of_libraries_leave_less_for_contexts);
  tcase_add_test(t, the_first_are_listed_in_order);
  suite_add_tcase(s, t);
  return check_run(s);
}
