/* What is expected of a context at each place where its VP waits. */
#include "context/residency/prediction.h"

#include "check_main.h"

#include <string.h>

static struct context_predictions all;
static struct context_found found;

static void forget_all(void) {
  predictions_free(&all);
  prediction_found_free(&found);
  memset(&all, 0, sizeof(all));
}

/* n whole units were touched, the k-th first. */
static void find(uintptr_t k, uintptr_t n) {
  prediction_forget(&found);
  prediction_find(&found, k * PREDICTION_UNIT, (k + n) * PREDICTION_UNIT,
                  false);
}

static struct context_prediction *measure(uintptr_t site, uintptr_t n) {
  struct context_prediction *const p = prediction_at(&all, site);
  find(site, n);
  prediction_measured(p, &found);
  return p;
}

/* Residences until p is measured again, of which none is surprising. */
static int lasts(struct context_prediction *p) {
  int n = 0;
  prediction_forget(&found);
  for (; p->known && n < 1000; n++) {
    prediction_used(p, &found);
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
  prediction_used(p, &found);
  ck_assert(p->known);
  ranges_piece(&p->touched, 100 * PREDICTION_UNIT, 101 * PREDICTION_UNIT,
               &there);
  ck_assert(there);
  ranges_piece(&p->touched, PREDICTION_UNIT, 2 * PREDICTION_UNIT, &there);
  ck_assert(there);
}
END_TEST

START_TEST(the_little_that_is_always_touched_is_read) {
  struct context_prediction *const p = measure(1, 40);
  for (int i = 0; i < 100; i++) {
    /* Seldom the whole, often two units. */
    if (p->known) {
      find(1, i % 3 ? 1 : 38);
      prediction_used(p, &found);
    } else {
      measure(1, i % 3 ? 2 : 40);
    }
  }
  ck_assert_uint_le(ranges_total(&p->touched), 8 * PREDICTION_UNIT);
}
END_TEST

START_TEST(who_mostly_touches_much_reads_it) {
  struct context_prediction *const p = measure(1, 4);
  for (int i = 0; i < 4; i++) {
    ck_assert_uint_eq(p->bytes, 4 * PREDICTION_UNIT);
    find(10, 40);
    prediction_used(p, &found);
    ck_assert(p->known);
  }
  ck_assert_uint_eq(p->bytes, 44 * PREDICTION_UNIT);
  ck_assert_uint_eq(ranges_total(&p->touched), 44 * PREDICTION_UNIT);
}
END_TEST

START_TEST(much_less_once_is_doubted) {
  struct context_prediction *const p = measure(1, 40);
  for (int i = 0; i < 3; i++) {
    measure(1, 4);
    ck_assert(!p->known);
    ck_assert_uint_eq(p->bytes, 40 * PREDICTION_UNIT);
    measure(1, 40);
    ck_assert(p->known);
  }
  measure(1, 4);
  measure(1, 4);
  ck_assert(p->known);
  ck_assert_uint_eq(p->bytes, 4 * PREDICTION_UNIT);
}
END_TEST

/* Of n residences at places of their own that all touch 40 units where one call
   is, how many have something to go by? */
static int go_by(int n, uintptr_t first) {
  struct context_prediction *const place = prediction_at(&all, 1);
  int lent = 0;
  for (uintptr_t site = first; site < first + (uintptr_t)n; site++) {
    struct context_prediction *const p = prediction_at(&all, site);
    if (prediction_choose(p, place)->known) {
      prediction_forget(&found);
      prediction_lent(p, place, &found);
      prediction_used(place, &found);
      lent++;
    } else {
      find(1, 40);
      prediction_measured_too(place, &found);
      prediction_measured(p, &found);
    }
  }
  return lent;
}

START_TEST(who_is_not_known_goes_by_the_place) {
  ck_assert_int_eq(go_by(10, 2), 9);
  ck_assert_uint_eq(prediction_at(&all, 1)->bytes, 40 * PREDICTION_UNIT);
  ck_assert_uint_eq(prediction_at(&all, 2)->bytes, 40 * PREDICTION_UNIT);
  ck_assert(!prediction_at(&all, 3)->known);
  ck_assert_int_ge(go_by(30, 12), 27); /* the place is measured again, too */
}
END_TEST

START_TEST(who_comes_again_is_measured_apart) {
  struct context_prediction *const place = measure(1, 40);
  struct context_prediction *const p = prediction_at(&all, 2);
  int lent = 0;
  for (; prediction_choose(p, place) == place && lent < 100; lent++) {
    prediction_forget(&found);
    prediction_lent(p, place, &found);
  }
  ck_assert_int_ge(lent, 2);
  ck_assert_int_lt(lent, 100);
  measure(2, 8);
  ck_assert_ptr_eq(prediction_choose(p, place), p);
  lasts(p);
  ck_assert_ptr_eq(prediction_choose(p, place), p); /* old, but its own */
}
END_TEST

START_TEST(who_differs_is_measured_at_once) {
  struct context_prediction *const place = measure(1, 40);
  struct context_prediction *const p = prediction_at(&all, 2);
  ck_assert_ptr_eq(prediction_choose(p, place), place);
  find(100, 30);
  prediction_lent(p, place, &found);
  ck_assert_ptr_eq(prediction_choose(p, place), p);
  ck_assert_ptr_eq(prediction_choose(p, NULL), p);
}
END_TEST

START_TEST(what_others_found_is_expected) {
  struct context_prediction *const p = prediction_at(&all, 1);
  ck_assert(prediction_may_be_told(p));
  find(5, 3);
  prediction_told(p, &found);
  ck_assert(p->known);
  ck_assert_uint_eq(p->bytes, 3 * PREDICTION_UNIT);
  ck_assert_uint_eq(ranges_total(&p->touched), 3 * PREDICTION_UNIT);
  ck_assert_int_eq(lasts(p), 16);
  find(5, 3);
  prediction_told(p, &found);
  ck_assert_int_eq(lasts(p), 32); /* it has not changed */
}
END_TEST

/* Much less than others, twice: then it is this context that differs. */
START_TEST(who_touches_less_than_others_is_told_no_more) {
  struct context_prediction *const p = prediction_at(&all, 1);
  find(1, 100);
  prediction_told(p, &found);
  lasts(p);
  measure(1, 10);
  ck_assert(!prediction_may_be_told(p)); /* in doubt */
  measure(1, 10);
  ck_assert(p->known);
  ck_assert(p->apart);
  ck_assert(!prediction_may_be_told(p));
}
END_TEST

/* An eighth of each of n units was touched. */
static void find_parts(uintptr_t n) {
  prediction_forget(&found);
  for (uintptr_t i = 0; i < n; i++) {
    prediction_find(&found, i * PREDICTION_UNIT,
                    i * PREDICTION_UNIT + PREDICTION_UNIT / 8, true);
  }
}

START_TEST(scattered_pages_are_not_predicted) {
  struct context_prediction *const p = prediction_at(&all, 1);
  for (int rest = 8; rest <= 32; rest *= 2) {
    find_parts((4 << 20) / PREDICTION_UNIT + 1);
    ck_assert(prediction_scattered(&found));
    prediction_measured(p, &found);
    ck_assert(!p->known);
    for (int i = 0; i < rest; i++) {
      ck_assert(!prediction_possible(p));
      prediction_unused(p);
    }
    ck_assert(prediction_possible(p));
  }
}
END_TEST

START_TEST(unless_they_are_few) {
  struct context_prediction *const p = prediction_at(&all, 1);
  find_parts(10);
  ck_assert(!prediction_scattered(&found));
  prediction_measured(p, &found);
  ck_assert(p->known);
  ck_assert_uint_eq(ranges_total(&p->touched), 10 * PREDICTION_UNIT);
}
END_TEST

START_TEST(long_runs_that_are_written_are_told) {
  bool written;
  prediction_forget(&found);
  prediction_find(&found, 0, PREDICTION_UNIT / 2, true);
  prediction_find(&found, PREDICTION_UNIT, PREDICTION_UNIT * 5 / 4, true);
  prediction_find(&found, 2 * PREDICTION_UNIT, 3 * PREDICTION_UNIT, false);
  ck_assert_uint_eq(ranges_total(&found.touched), 3 * PREDICTION_UNIT);
  ck_assert_uint_eq(ranges_total(&found.written), PREDICTION_UNIT);
  ranges_piece(&found.written, 0, PREDICTION_UNIT, &written);
  ck_assert(written);
  ck_assert_uint_eq(found.bytes, PREDICTION_UNIT * 7 / 4);
  struct context_prediction *const p = prediction_at(&all, 1);
  prediction_measured(p, &found);
  ck_assert_uint_eq(ranges_total(&p->written), PREDICTION_UNIT);
}
END_TEST

/* A residence that is read as a whole, all of n units, of which the first
   `dirty` are written. Was it watched, and how much was not expected? */
static bool whole(struct context_prediction *p, uintptr_t n, uintptr_t dirty,
                  uint64_t *quiet) {
  const struct ranges *expected;
  const bool watched = prediction_watches(p, &expected);
  if (watched) {
    *quiet = n * PREDICTION_UNIT - ranges_total(expected);
    prediction_forget(&found);
    prediction_find(&found, PREDICTION_UNIT, (1 + dirty) * PREDICTION_UNIT,
                    true);
    prediction_wrote(p, &found, n * PREDICTION_UNIT);
  }
  return watched;
}

/* Of n residences, how many are watched with nothing expected. */
static int looks(struct context_prediction *p, int n) {
  int times = 0;
  for (int i = 0; i < n; i++) {
    uint64_t quiet;
    times += whole(p, 10, 4, &quiet) && quiet == 10 * PREDICTION_UNIT;
  }
  return times;
}

START_TEST(what_stays_unwritten_is_watched) {
  struct context_prediction *const p = prediction_at(&all, 1);
  uint64_t quiet = 0;
  ck_assert(!whole(p, 10, 4, &quiet)); /* it may be the last one */
  ck_assert(!whole(p, 10, 4, &quiet));
  ck_assert(whole(p, 10, 4, &quiet));
  ck_assert_uint_eq(quiet, 10 * PREDICTION_UNIT);
  ck_assert(whole(p, 10, 6, &quiet));
  ck_assert_uint_eq(quiet, 6 * PREDICTION_UNIT);
  ck_assert(whole(p, 10, 6, &quiet));
  ck_assert_uint_eq(quiet, 4 * PREDICTION_UNIT);
}
END_TEST

START_TEST(who_writes_all_is_not_watched) {
  struct context_prediction *const p = prediction_at(&all, 1);
  uint64_t quiet;
  int watched = 0;
  for (int i = 0; i < 1000; i++) {
    watched += whole(p, 10, 9, &quiet);
  }
  ck_assert_int_ge(watched, 2); /* to find out */
  ck_assert_int_le(watched, 10);
}
END_TEST

START_TEST(what_is_written_is_looked_at_more_seldom) {
  struct context_prediction *const p = prediction_at(&all, 1);
  const int first = looks(p, 100);
  ck_assert_int_ge(first, 2);
  ck_assert_int_lt(looks(p, 100), first);
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
  tcase_add_test(t, the_little_that_is_always_touched_is_read);
  tcase_add_test(t, who_mostly_touches_much_reads_it);
  tcase_add_test(t, much_less_once_is_doubted);
  tcase_add_test(t, who_is_not_known_goes_by_the_place);
  tcase_add_test(t, who_comes_again_is_measured_apart);
  tcase_add_test(t, who_differs_is_measured_at_once);
  tcase_add_test(t, what_others_found_is_expected);
  tcase_add_test(t, who_touches_less_than_others_is_told_no_more);
  tcase_add_test(t, scattered_pages_are_not_predicted);
  tcase_add_test(t, unless_they_are_few);
  tcase_add_test(t, long_runs_that_are_written_are_told);
  tcase_add_test(t, what_stays_unwritten_is_watched);
  tcase_add_test(t, who_writes_all_is_not_watched);
  tcase_add_test(t, what_is_written_is_looked_at_more_seldom);
  suite_add_tcase(s, t);
  return check_run(s);
}
