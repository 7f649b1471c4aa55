#define _GNU_SOURCE
#include "base/counters.h"

#include <time.h>

struct counters counters;
const struct counters *counters_joined;

uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
