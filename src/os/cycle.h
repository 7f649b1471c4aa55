/* Cycles, and what a thread does that has nothing to do. */
#ifndef PEMS_OS_CYCLE_H
#define PEMS_OS_CYCLE_H

#include <stdint.h>

#include "os/clock.h"

/* This machine's cycle counter, the same for all cores (where there is none,
   nanoseconds). */
static inline uint64_t cycle_now(void) {
#if defined __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return clock_ns();
#endif
}

/* The same, after all that was read before has arrived: else a processor may
   look at the counter earlier. */
static inline uint64_t cycle_after(void) {
#if defined __x86_64__
  __builtin_ia32_lfence();
#endif
  return cycle_now();
}

/* Takes some milliseconds the first time. Thread-safe. */
uint64_t cycles_per_second(void);

/* A moment, for who looks at a word again and again. */
static inline void cycle_pause(void) {
#if defined __x86_64__
  __builtin_ia32_pause();
#else
  __asm__ volatile("" ::: "memory");
#endif
}

/* Lets others run while a thread has nothing to do: `turn` is how often it has
   found nothing in a row. */
void cycle_relax(unsigned turn);

#endif
