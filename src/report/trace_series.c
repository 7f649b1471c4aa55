#include "report/trace_series.h"

enum { APART = 100000 }; /* ns, at first */

/* Of two points the greater value stays, at the time of the first. */
static void thin_out(struct trace_series *s) {
  for (size_t i = 0; i < s->n / 2; i++) {
    const struct trace_point a = s->point[2 * i], b = s->point[2 * i + 1];
    s->point[i].at = a.at;
    s->point[i].value = a.value > b.value ? a.value : b.value;
  }
  s->n /= 2;
  s->apart *= 2;
}

void trace_series_add(struct trace_series *s, uint64_t at, uint64_t value) {
  struct trace_point *last = s->n ? &s->point[s->n - 1] : NULL;
  if (!s->apart) {
    s->apart = APART;
  }
  if (last && at - last->at < s->apart) {
    last->value = value > last->value ? value : last->value;
    return;
  }
  if (s->n == TRACE_POINTS) {
    thin_out(s);
  }
  s->point[s->n++] = (struct trace_point){at, value};
}
