#include "wrappers/plan/fit.h"

#include <check.h>
#include <math.h>

#include "check_main.h"

enum { N = 3 };
static const double x[N] = {1 << 20, 1 << 21, 1 << 22};
static const double full = 1 << 28;

static void predicts(const double *y, double expected, double tolerance) {
  const struct fit f = fit_growth(x, y, N);
  ck_assert_double_eq_tol(fit_at(&f, full), expected, tolerance * expected);
}

START_TEST(each_form_is_found) {
  static const struct {
    double a, b;
    enum fit_form form;
  } cases[] = {{5, 0, FIT_CONSTANT},   {5, 1e7, FIT_INVERSE},
               {1e6, 3, FIT_LINEAR},   {0, 2, FIT_LINEAR},
               {0, 1e-3, FIT_LOG},     {0, 1e-6, FIT_SQUARE},
               {1e5, 1e-6, FIT_SQUARE}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    const struct fit truth = {cases[i].form, cases[i].a, cases[i].b, 0, 0};
    double y[N];
    for (int k = 0; k < N; k++) {
      y[k] = fit_at(&truth, x[k]);
    }
    const struct fit f = fit_growth(x, y, N);
    ck_assert_int_eq(f.form, cases[i].form);
    ck_assert_double_le(f.off, 1e-6);
    predicts(y, fit_at(&truth, full), 1e-6);
  }
}
END_TEST

START_TEST(the_values_of_forms) {
  const struct fit log = {FIT_LOG, 1, 2, 0, 0};
  const struct fit inverse = {FIT_INVERSE, 1, 2, 0, 0};
  const struct fit square = {FIT_SQUARE, 1, 2, 0, 0};
  ck_assert_double_eq_tol(fit_at(&log, 8), 49, 1e-9);
  ck_assert_double_eq_tol(fit_at(&log, 1), 1, 1e-9);
  ck_assert_double_eq_tol(fit_at(&inverse, 8), 1.25, 1e-9);
  ck_assert_double_eq_tol(fit_at(&square, 8), 129, 1e-9);
}
END_TEST

/* A percent up and down makes no square of a line. */
START_TEST(noise_changes_no_form) {
  const double y[N] = {1.01 * (1e5 + 4 * x[0]), 0.99 * (1e5 + 4 * x[1]),
                       1.01 * (1e5 + 4 * x[2])};
  const struct fit f = fit_growth(x, y, N);
  ck_assert_int_eq(f.form, FIT_LINEAR);
  ck_assert_double_ge(f.off, 0.001);
  predicts(y, 4 * full, 0.05);
}
END_TEST

/* Seconds of a sort on a busy machine: by chance a steeper form comes nearest.
 */
START_TEST(noise_makes_no_time_steep) {
  const double sizes[] = {4, 8, 16}, seconds[] = {1.0, 1.9, 4.3};
  const double squares[] = {1.1, 4.2, 15.5};
  ck_assert_int_gt(fit_growth(sizes, seconds, 3).form, FIT_LINEAR);
  const struct fit f = fit_time(sizes, seconds, 3);
  ck_assert_int_eq(f.form, FIT_LINEAR);
  ck_assert(fit_at(&f, 64) < 20);
  const struct fit steep = fit_time(sizes, squares, 3);
  ck_assert_int_eq(steep.form, FIT_POWER);
  ck_assert_double_eq_tol(fit_at(&steep, 64), 15.5 * 16, 0.2 * 15.5 * 16);
}
END_TEST

/* Data outgrow a cache once: psrs, 2^23 to 2^25 keys on 32 ranks. */
START_TEST(a_step_is_not_repeated) {
  const double sizes[] = {8, 16, 32, 64}, seconds[] = {0.2, 0.41, 1.34, 2.75};
  const double falls[] = {0.5, 0.41, 1.34}, still[] = {3, 0.1, 3};
  struct fit f = fit_time(sizes, seconds, 3);
  ck_assert_double_eq_tol(fit_at(&f, 32), 1.34, 1e-9);
  ck_assert(fit_at(&f, 128) > 5.5 && fit_at(&f, 128) < 10);
  f = fit_time(sizes + 1, seconds + 1, 3); /* with a larger one, it is over */
  ck_assert_double_eq_tol(fit_at(&f, 128), 5.5, 0.3);
  f = fit_time(sizes, falls, 3); /* the first one was disturbed */
  ck_assert(fit_at(&f, 128) > 3 && fit_at(&f, 128) < 10);
  f = fit_time(sizes, still, 3);
  ck_assert_double_eq_tol(fit_at(&f, 128), 3, 1e-9);
}
END_TEST

/* fftw, 768 to 3072 squared: libraries take 0.26 s whatever the size is, caches
   are outgrown at the end. 6144 squared took 5.2 s. */
START_TEST(what_is_taken_for_nothing) {
  const double data[] = {1, 4, 16}, seconds[] = {0.285, 0.36, 1.0};
  struct fit f = fit_time(data, seconds, 3);
  ck_assert_double_eq_tol(f.a, 0.26, 1e-9);
  ck_assert_double_eq_tol(fit_at(&f, 64), 5.2, 1.3);
}
END_TEST

/* 0.4 % of growth is none, 1 % of growth is some. */
START_TEST(a_constant_is_narrow) {
  const double still[N] = {1000, 1002, 1004}, grows[N] = {1000, 1003.3, 1010};
  const struct fit none = fit_growth(x, still, N);
  const struct fit some = fit_growth(x, grows, N);
  ck_assert_int_eq(none.form, FIT_CONSTANT);
  ck_assert_int_eq(some.form, FIT_LINEAR);
  ck_assert_double_ge(fit_at(&some, full), 1500);
}
END_TEST

/* What falls neither becomes negative nor rises again. */
START_TEST(nothing_is_negative) {
  const double falls[N] = {4e6, 2e6, 1e6}, zero[N] = {0, 0, 0};
  const double late[N] = {0, 0, 1e6}, steep[N] = {1, 8, 64};
  struct fit f = fit_growth(x, falls, N);
  ck_assert_int_eq(f.form, FIT_INVERSE);
  ck_assert_double_ge(fit_at(&f, full), 0);
  ck_assert_double_le(fit_at(&f, full), 1e6);
  f = fit_growth(x, zero, N);
  ck_assert_int_eq(f.form, FIT_CONSTANT);
  ck_assert(fit_at(&f, full) == 0);
  f = fit_growth(x, late, N);
  ck_assert_double_ge(f.a, 0);
  ck_assert_double_ge(f.b, 0);
  f = fit_growth(x, steep, N); /* steeper than all: the steepest is nearest */
  ck_assert_int_eq(f.form, FIT_SQUARE);
  ck_assert_double_ge(f.off, 0.02);
}
END_TEST

START_TEST(few_points) {
  const double y[] = {3e6, 6e6};
  const struct fit none = fit_growth(x, y, 0);
  const struct fit one = fit_growth(x, y, 1);
  const struct fit two = fit_growth(x, y, 2);
  ck_assert(fit_at(&none, full) == 0);
  ck_assert_double_eq_tol(fit_at(&one, full), 3e6, 1);
  ck_assert_int_eq(two.form, FIT_LINEAR);
  ck_assert_double_eq_tol(fit_at(&two, full), 3e6 * 256, 10);
  const double more[] = {3e6, 6.4e6}, square[] = {3e6, 12e6};
  const struct fit line = fit_growth(x, more, 2);
  const struct fit curve = fit_growth(x, square, 2);
  ck_assert_int_eq(line.form, FIT_LINEAR); /* a + b x^2 would be exact */
  ck_assert_int_eq(curve.form, FIT_SQUARE);
}
END_TEST

/* The largest does not count for more than the others. */
START_TEST(points_count_alike) {
  const double y[N] = {1e6, 2e6, 5e6};
  const struct fit f = fit_form(FIT_LINEAR, x, y, N);
  for (int i = 0; i < N; i++) {
    ck_assert_double_le(fabs(fit_at(&f, x[i]) - y[i]) / y[i], 0.35);
  }
}
END_TEST

START_TEST(forms_have_names) {
  const struct fit flat = {FIT_SQUARE, 1, 0, 0, 0};
  ck_assert_str_eq(fit_text(&flat), "constant");
  for (int i = 0; i < FIT_FORMS; i++) {
    const struct fit f = {(enum fit_form)i, 1, 1, 0, 1};
    ck_assert_ptr_nonnull(fit_text(&f));
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {each_form_is_found,
                                the_values_of_forms,
                                noise_changes_no_form,
                                a_constant_is_narrow,
                                noise_makes_no_time_steep,
                                a_step_is_not_repeated,
                                what_is_taken_for_nothing,
                                nothing_is_negative,
                                few_points,
                                points_count_alike,
                                forms_have_names,
                                NULL};
  return check_main("fit", tests);
}
