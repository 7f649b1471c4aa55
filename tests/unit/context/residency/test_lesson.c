/* What contexts tell each other of the pages that they touch. */
#include "context/residency/lesson.h"

#include "../store/store_contexts.h"
#include "check_main.h"
#include "context/residency/prediction.h"
#include "os/bits.h"

enum { SITE = 77, UNIT = PREDICTION_UNIT, MU = 4 << 20 };

/* What each context expects at SITE. */
static struct context_prediction of[3];

static void start(void) {
  make_dir();
  create("unix", 3, MU, 3 * MU);
  for (int i = 0; i < 3; i++) {
    of[i] = (struct context_prediction){.site = SITE};
  }
}

static void end(void) {
  for (int i = 0; i < 3; i++) {
    ranges_free(&of[i].touched);
    ranges_free(&of[i].written);
  }
  remove_all();
}

static uintptr_t at(int i, size_t unit) {
  return (uintptr_t)context_get(i)->range + unit * UNIT;
}

/* Context i has found that it touches n units from the first on, and writes
   the last of them. */
static void measure(int i, size_t first, size_t n) {
  struct context_found found = {0};
  prediction_find(&found, at(i, first), at(i, first + n - 1), false);
  prediction_find(&found, at(i, first + n - 1), at(i, first + n), true);
  prediction_measured(&of[i], &found);
  prediction_found_free(&found);
  ck_assert(of[i].known);
}

static void tell(int i, size_t first, size_t n) {
  measure(i, first, n);
  lessons_tell(context_get(i), &of[i]);
}

static bool ask(int i) {
  return lessons_ask(context_get(i), &of[i]);
}

static void assert_set(const struct ranges *r, uintptr_t start, size_t n) {
  ck_assert_uint_eq(r->n, 1);
  ck_assert_uint_eq(r->item[0].start, start);
  ck_assert_uint_eq(r->item[0].end, start + n * UNIT);
}

START_TEST(the_same_pages_of_another_are_expected) {
  ck_assert(!ask(1));
  tell(0, 3, 5);
  ck_assert(ask(1));
  ck_assert(of[1].known);
  ck_assert_uint_eq(of[1].bytes, 5 * UNIT);
  assert_set(&of[1].touched, at(1, 3), 5);
  assert_set(&of[1].written, at(1, 7), 1);
}
END_TEST

/* Images lie anywhere; a page of one is expected by what is rounded to it. */
START_TEST(the_data_of_the_program_are_as_well) {
  struct context_found found = {0};
  const uintptr_t from = (uintptr_t)data[0], to = (uintptr_t)data[1];
  prediction_find(&found, from, from + data_len, false);
  found.bytes = UNIT; /* or it would be scattered pages */
  prediction_measured(&of[0], &found);
  prediction_found_free(&found);
  lessons_tell(context_get(0), &of[0]);
  ck_assert(ask(1));
  bool there;
  ck_assert_uint_eq(ranges_piece(&of[1].touched, to, to + data_len, &there),
                    data_len);
  ck_assert(there);
  ck_assert_uint_le(ranges_total(&of[1].touched), 2 * UNIT);
}
END_TEST

START_TEST(other_sites_and_old_news_tell_nothing) {
  tell(0, 0, 4);
  ck_assert(!ask(0)); /* it has told that itself */
  ck_assert(ask(1));
  of[1].known = false;
  ck_assert(!ask(1));
  of[2].site++;
  ck_assert(!ask(2));
  tell(0, 0, 4);
  ck_assert(ask(1));
}
END_TEST

START_TEST(who_went_by_others_often_is_measured) {
  int n = 0;
  do {
    tell(0, 0, 4);
  } while (ask(1) && ++n < 100);
  ck_assert_int_ge(n, 2);
  ck_assert_int_lt(n, 100);
  measure(1, 0, 4); /* the same: so others may tell again */
  tell(0, 0, 4);
  ck_assert(ask(1));
}
END_TEST

/* Context 1, which has been told that it touches four units, touches n beside
   them. */
static void use(size_t n) {
  struct context_found more = {0};
  if (n) {
    prediction_find(&more, at(1, 8), at(1, 8 + n), false);
  }
  prediction_used(&of[1], &more);
  prediction_found_free(&more);
}

START_TEST(who_is_told_wrong_is_measured_next) {
  tell(0, 0, 4);
  ck_assert(ask(1));
  use(0);
  ck_assert(of[1].known);
  of[1].known = false;
  tell(0, 0, 4);
  ck_assert(ask(1));
  use(6);
  ck_assert(!of[1].known);
  tell(0, 0, 4);
  ck_assert(!ask(1));
  measure(1, 0, 10); /* it does differ: what others tell is not for it */
  of[1].known = false;
  tell(0, 0, 4);
  ck_assert(!ask(1));
  lessons_tell(context_get(1), &of[1]); /* nor what it tells for others */
  ck_assert(ask(2));
  ck_assert_uint_eq(of[2].bytes, 4 * UNIT);
}
END_TEST

START_TEST(too_many_pieces_are_not_told) {
  struct context *const c = context_get(0);
  of[0].bytes = UNIT;
  for (size_t i = 0; i < 1000; i++) {
    ck_assert_int_eq(ranges_add(&of[0].touched,
                                (uintptr_t)c->range + 2 * i * PAGE,
                                (uintptr_t)c->range + (2 * i + 1) * PAGE),
                     0);
  }
  lessons_tell(c, &of[0]);
  ck_assert(!ask(1));
}
END_TEST

START_TEST(all_is_forgotten) {
  tell(0, 0, 4);
  lessons_clear();
  ck_assert(!ask(1));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("lesson");
  TCase *const t = tcase_create("lesson");
  tcase_add_checked_fixture(t, start, end);
  tcase_add_test(t, the_same_pages_of_another_are_expected);
  tcase_add_test(t, the_data_of_the_program_are_as_well);
  tcase_add_test(t, other_sites_and_old_news_tell_nothing);
  tcase_add_test(t, who_went_by_others_often_is_measured);
  tcase_add_test(t, who_is_told_wrong_is_measured_next);
  tcase_add_test(t, too_many_pieces_are_not_told);
  tcase_add_test(t, all_is_forgotten);
  suite_add_tcase(s, t);
  return check_run(s);
}
