#include "context/residency/rate.h"

/* Amounts that differ by less than so much of their mean tell nothing of what
   each time takes. */
static const double alike = 0.25;

/* Measurements until there is more than a mean, and until one that took so many
   times what was expected is cut: it had bad luck. */
static const double enough = 8, outlier = 4;

static void halve(struct rate *r) {
  r->n /= 2;
  r->x /= 2;
  r->t /= 2;
  r->xx /= 2;
  r->xt /= 2;
}

void rate_learn(struct rate *r, double amount, double ns, double most) {
  const double expected = rate_at(r, amount);
  if (r->n >= enough && ns > outlier * expected) {
    ns = outlier * expected;
  }
  r->n++;
  r->x += amount;
  r->t += ns;
  r->xx += amount * amount;
  r->xt += amount * ns;
  if (r->x > 2 * most) {
    halve(r);
  }
}

double rate_at(const struct rate *r, double amount) {
  if (r->n <= 0) {
    return 0;
  }
  const double x = r->x / r->n, t = r->t / r->n;
  const double spread = r->xx / r->n - x * x;
  double each = x > 0 ? t / x : 0, once = x > 0 ? 0 : t;
  if (r->n >= enough && spread > alike * alike * x * x) {
    const double slope = (r->xt / r->n - x * t) / spread;
    each = slope < each ? slope : each; /* no time takes less than nothing, */
    each = each > 0 ? each : 0;         /* nor a byte */
    once = t - each * x;
  }
  return once + each * amount;
}
