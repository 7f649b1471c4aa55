#include "os/cycle.h"
#include "os/clock.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

static uint64_t rate;

/* Compares both clocks for some milliseconds. */
static void find_rate(void) {
  const uint64_t ns = clock_ns(), cycles = cycle_now();
  uint64_t passed;
  do {
    sched_yield();
    passed = clock_ns() - ns;
  } while (passed < 5000000);
  rate = (uint64_t)((double)(cycle_now() - cycles) * 1e9 / (double)passed);
}

uint64_t cycles_per_second(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_rate);
  return rate;
}

/* Some hundred nanoseconds are for work that appears at once; then others, on
   fewer cores than threads, must get their turn; then whoever has nothing to do
   for long should cost nothing. */
void cycle_relax(unsigned turn) {
  if (turn < 16) {
    for (int i = 0; i < 16; i++) {
      cycle_pause();
    }
  } else if (turn < 256) {
    sched_yield();
  } else {
    const struct timespec t = {0, turn < 1024 ? 20000 : 200000};
    nanosleep(&t, NULL);
  }
}
