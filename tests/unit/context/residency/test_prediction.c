/* What is expected of a context at each place where its VP waits. */
#include "context/residency/prediction.h"

#include "check_main.h"

#include <string.h>

static struct context_predictions all;
static struct ranges found;

static void forget_all(void) {
  predictions_free(&all);
  ranges_free(&found);
  memset(&all, 0, sizeof(all));
}

/* n whole units were touched, the k-th first. */
static void find(uintptr_t k, uintptr_t n) {
  ranges_clear(&found);
  ck_assert_int_eq(
      ranges_add(&found, k * PREDICTION_UNIT, (k + n) * PREDICTION_UNIT), 0);
}

static struct context_prediction *measure(uintptr_t site, uintptr_t n) {
  struct context_prediction *const p = prediction_at(&all, site);
  find(site, n);
  prediction_measured(p, &found, n * PREDICTION_UNIT);
  return p;
}

/* Residences until p is measured again, of which none is surprising. */
static int lasts(struct context_prediction *p) {
  int n = 0;
  ranges_clear(&found);
  for (; p->known && n < 1000; n++) {
    prediction_used(p, &found, 0);
  }
  return n;
}

START_TEST(each_place_has_its_own) {
  measure(1, 4);
  measure(2, 1);
  ck_assert_uint_eq(prediction_at(&all, 1)->bytes, 4 * PREDICTION_UNIT);
  ck_assert_uint_eq(prediction_at(&all, 2)->bytes, PREDICTION_UNIT);
  ck_assert(prediction_at(&all, 1)->known);
  ck_assert(!prediction_at(&all, 3)->known);
}
END_TEST

START_TEST(the_one_unused_for_longest_is_forgotten) {
  for (uintptr_t site = 1; site <= CONTEXT_PREDICTIONS; site++) {
    measure(site, 1);
  }
  prediction_at(&all, 1);
  prediction_at(&all, CONTEXT_PREDICTIONS + 1);
  ck_assert(prediction_at(&all, 1)->known);
  ck_assert(prediction_at(&all, 3)->known);
  ck_assert(!prediction_at(&all, 2)->known);
}
END_TEST

START_TEST(a_place_may_be_zero) {
  ck_assert(!prediction_at(&all, 0)->known);
  measure(0, 2);
  measure(1, 1);
  ck_assert_uint_eq(prediction_at(&all, 0)->bytes, 2 * PREDICTION_UNIT);
}
END_TEST

START_TEST(it_is_measured_more_seldom_while_it_stays) {
  struct context_prediction *const p = measure(1, 100);
  ck_assert_int_eq(lasts(p), 16);
  measure(1, 100);
  ck_assert_int_eq(lasts(p), 32);
  measure(1, 90);
  ck_assert_int_eq(lasts(p), 64);
  measure(1, 30);
  ck_assert_int_eq(lasts(p), 16);
  for (int i = 0; i < 10; i++) {
    measure(1, 30);
    lasts(p);
  }
  measure(1, 30);
  ck_assert_int_eq(lasts(p), 256);
}
END_TEST

START_TEST(what_else_was_touched_is_expected_too) {
  struct context_prediction *const p = measure(1, 4);
  bool there;
  find(100, 1);
  prediction_used(p, &found, PREDICTION_UNIT);
  ck_assert(p->known);
  ranges_piece(&p->touched, 100 * PREDICTION_UNIT, 101 * PREDICTION_UNIT,
               &there);
  ck_assert(there);
  ranges_piece(&p->touched, PREDICTION_UNIT, 2 * PREDICTION_UNIT, &there);
  ck_assert(there);
}
END_TEST

START_TEST(who_was_wrong_pauses_longer_and_longer) {
  struct context_prediction *const p = measure(1, 4);
  for (int rest = 8; rest <= 32; rest *= 2) {
    find(100, 3);
    prediction_used(p, &found, 3 * PREDICTION_UNIT);
    ck_assert(!p->known);
    for (int i = 0; i < rest; i++) {
      ck_assert(!prediction_possible(p));
      measure(1, 4);
      ck_assert(!p->known);
    }
    ck_assert(prediction_possible(p));
    measure(1, 4);
    ck_assert(p->known);
  }
}
END_TEST

START_TEST(scattered_pages_are_not_predicted) {
  struct context_prediction *const p = prediction_at(&all, 1);
  find(1, 4);
  prediction_measured(p, &found, PREDICTION_UNIT);
  ck_assert(!p->known);
  for (int i = 0; i < 8; i++) {
    ck_assert(!prediction_possible(p));
    prediction_unused(p);
  }
  ck_assert(prediction_possible(p));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("prediction");
  TCase *const t = tcase_create("prediction");
  tcase_add_checked_fixture(t, forget_all, forget_all);
  tcase_add_test(t, each_place_has_its_own);
  tcase_add_test(t, the_one_unused_for_longest_is_forgotten);
  tcase_add_test(t, a_place_may_be_zero);
  tcase_add_test(t, it_is_measured_more_seldom_while_it_stays);
  tcase_add_test(t, what_else_was_touched_is_expected_too);
  tcase_add_test(t, who_was_wrong_pauses_longer_and_longer);
  tcase_add_test(t, scattered_pages_are_not_predicted);
  suite_add_tcase(s, t);
  return check_run(s);
}
