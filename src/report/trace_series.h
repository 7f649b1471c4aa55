/* A quantity over time, in bounded memory: when it is full, every second point
   is dropped, and points come half as often from then on. Locks nothing. */
#ifndef PEMS_REPORT_TRACE_SERIES_H
#define PEMS_REPORT_TRACE_SERIES_H

#include <stddef.h>
#include <stdint.h>

enum { TRACE_POINTS = 2048 };

struct trace_point {
  uint64_t at; /* ns, as trace_now */
  uint64_t value;
};
struct trace_series {
  size_t n;
  uint64_t apart; /* ns: the least between two points that stay */
  struct trace_point point[TRACE_POINTS];
};

/* The quantity has this value from `at` on, not before the last one. One that
   comes too soon after the last point replaces that one's value if it is
   greater: peaks are kept. */
void trace_series_add(struct trace_series *s, uint64_t at, uint64_t value);

#endif
