#include "wrappers/plan/fit.h"

#include <math.h>
#include <stdbool.h>

static double term(enum fit_form form, double x) {
  switch (form) {
  case FIT_INVERSE:
    return 1 / x;
  case FIT_LINEAR:
    return x;
  case FIT_LOG:
    return x > 1 ? x * log2(x) : 0;
  case FIT_SQUARE:
    return x * x;
  default:
    return 0;
  }
}

double fit_at(const struct fit *f, double x) {
  const double t = f->form == FIT_POWER ? pow(x, f->power) : term(f->form, x);
  return f->a + f->b * t;
}

static double greatest(const double *y, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = y[i] > most ? y[i] : most;
  }
  return most;
}

/* Each point counts by how much it is off as a part of itself. One of next to
   nothing would count for all: none has more weight than a thousandth of the
   greatest has. */
static double weight(double y, double most) {
  const double least = most / 1000;
  return most > 0 ? 1 / (y > least ? y : least) : 1;
}

static double worst(const struct fit *f, const double *x, const double *y,
                    int n) {
  const double most = greatest(y, n);
  double off = 0;
  for (int i = 0; i < n; i++) {
    const double d = fabs(fit_at(f, x[i]) - y[i]) * weight(y[i], most);
    off = d > off ? d : off;
  }
  return off;
}

/* Sums of weighted products: of 1, t and y. */
struct sums {
  double w, wt, wtt, wy, wty;
};

static struct sums add_up(enum fit_form form, const double *x, const double *y,
                          int n) {
  const double most = greatest(y, n);
  struct sums s = {0};
  for (int i = 0; i < n; i++) {
    const double t = term(form, x[i]);
    const double w = weight(y[i], most) * weight(y[i], most);
    s.w += w;
    s.wt += w * t;
    s.wtt += w * t * t;
    s.wy += w * y[i];
    s.wty += w * t * y[i];
  }
  return s;
}

/* Least squares; where a or b comes out negative, the other one alone. */
struct fit fit_form(enum fit_form form, const double *x, const double *y,
                    int n) {
  struct fit f = {.form = form};
  const struct sums s = add_up(form, x, y, n);
  const double det = s.w * s.wtt - s.wt * s.wt;
  if (n > 1 && det > 1e-12 * s.w * s.wtt) {
    f.a = (s.wy * s.wtt - s.wty * s.wt) / det;
    f.b = (s.w * s.wty - s.wt * s.wy) / det;
  } else if (s.w > 0) {
    f.a = s.wy / s.w;
  }
  if (f.b < 0) {
    f.b = 0;
    f.a = s.wy / s.w;
  } else if (f.a < 0) {
    f.a = 0;
    f.b = s.wty / s.wtt;
  }
  f.off = worst(&f, x, y, n);
  return f;
}

/* The first form up to `last` within `near` of all points, or the nearest one.
 */
static struct fit first_near(const double *x, const double *y, int n,
                             enum fit_form last, double near) {
  struct fit best = fit_form(FIT_CONSTANT, x, y, n);
  if (best.off <= 0.005) {
    return best;
  }
  for (int form = FIT_INVERSE; form <= (int)last; form++) {
    const struct fit f = fit_form((enum fit_form)form, x, y, n);
    if (f.b > 0 && f.off <= near) { /* else it is the constant again */
      return f;
    }
    best = f.off < best.off ? f : best;
  }
  return best;
}

struct fit fit_growth(const double *x, const double *y, int n) {
  return first_near(x, y, n, FIT_SQUARE, n > 2 ? 0.02 : 0.15);
}

/* The power of x with which y grows from one point to another. */
static double power_of(const double *x, const double *y, int from, int to) {
  return y[from] > 0 && y[to] > 0 && x[to] > x[from]
             ? log(y[to] / y[from]) / log(x[to] / x[from])
             : 0;
}

/* What a line through the first two points has at 0, if that is not negative,
   and less than each point. */
static double for_nothing(const double *x, const double *y, int n) {
  const double slope = n > 1 ? (y[1] - y[0]) / (x[1] - x[0]) : 0;
  double a = slope > 0 ? fmax(y[0] - slope * x[0], 0) : 0;
  for (int i = 0; i < n; i++) {
    a = y[i] <= a ? 0 : a;
  }
  return a;
}

static struct fit by_steps(const double *x, const double *y, int n) {
  struct fit f = {.form = FIT_POWER};
  double rest[FIT_POINTS];
  f.a = for_nothing(x, y, n);
  for (int i = 0; i < n; i++) {
    rest[i] = y[i] - f.a;
  }
  const double all = power_of(x, rest, 0, n - 1);
  double flattest = all;
  for (int i = 0; i + 1 < n; i++) {
    flattest = fmin(flattest, power_of(x, rest, i, i + 1));
  }
  flattest = fmax(flattest, fmax(fmin(all, 1), 0));
  const double last = fmax(power_of(x, rest, n - 2, n - 1), flattest);
  f.power = all > 1 ? (flattest + last) / 2 : flattest;
  f.b = rest[n - 1] / pow(x[n - 1], f.power);
  f.off = worst(&f, x, y, n);
  return f;
}

struct fit fit_time(const double *x, const double *y, int n) {
  const double near = 0.1;
  const struct fit f = first_near(x, y, n, FIT_LINEAR, near);
  return n < 2 || f.off <= near ? f : by_steps(x, y, n);
}

const char *fit_text(const struct fit *f) {
  static const char *const text[FIT_FORMS] = {"constant",  "a + b / x",
                                              "a + b x",   "a + b x log x",
                                              "a + b x^2", "a + b x^p"};
  return text[f->b > 0 ? f->form : FIT_CONSTANT];
}
