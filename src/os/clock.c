#define _GNU_SOURCE
#include "os/clock.h"

#define SECOND 1000000000u

uint64_t clock_read_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

uint64_t clock_ns(void) {
  return clock_read_ns(CLOCK_MONOTONIC);
}

double clock_seconds(void) {
  return 1e-9 * (double)clock_ns();
}

uint64_t clock_thread_ns(void) {
  return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

struct timespec clock_after(clockid_t clock, uint64_t ns) {
  const uint64_t at = clock_read_ns(clock) + ns;
  return (struct timespec){(time_t)(at / SECOND), (long)(at % SECOND)};
}
