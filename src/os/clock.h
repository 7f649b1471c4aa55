/* Clocks. Times are CLOCK_MONOTONIC's unless the name says otherwise. */
#ifndef PEMS_OS_CLOCK_H
#define PEMS_OS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Time of `clock` in nanoseconds. */
uint64_t clock_read_ns(clockid_t clock);
uint64_t clock_ns(void);
double clock_seconds(void);
/* CPU time of the calling thread. */
uint64_t clock_thread_ns(void);
/* The time on `clock` that lies `ns` from now: a deadline for
   pthread_cond_timedwait. */
struct timespec clock_after(clockid_t clock, uint64_t ns);

#endif
