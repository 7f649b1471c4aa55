/* clock, times, getrusage and clock_gettime, interposed: processor time of the
   process is that of the rank, of its own thread and those of its program. */
#define _GNU_SOURCE
#include "interpose/real.h"

#include "base/self.h"
#include "os/clock.h"
#include "vp/helpers.h"
#include "vp/vp.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { MICRO = 1000000, NANO = 1000000000 };

static bool is_rank(void) {
  return !self_native() && vp_in_job();
}

/* Of the rank's threads but the calling one. */
static struct helpers_time others(void) {
  struct helpers_time t;
  self_enter();
  helpers_times(self.vp, &t);
  self_leave();
  return t;
}

static uint64_t rank_ns(void) {
  const struct helpers_time t = others();
  return clock_thread_ns() + t.user + t.system;
}

/* As clock_getcpuclockid names it for a process, too. */
static bool is_of_process(clockid_t clock) {
  enum { PER_PROCESS = 2 };
  const pid_t pid = ~(clock >> 3);
  return clock == CLOCK_PROCESS_CPUTIME_ID ||
         (clock < 0 && (clock & 7) == PER_PROCESS &&
          (pid == 0 || pid == getpid()));
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *to) {
  INTERPOSE_REAL(clock_gettime)
  if (!is_of_process(clock) || !is_rank()) {
    return real(clock, to);
  }
  const uint64_t ns = rank_ns();
  to->tv_sec = (time_t)(ns / NANO);
  to->tv_nsec = (long)(ns % NANO);
  return 0;
}

EXPORT clock_t clock(void) {
  INTERPOSE_REAL(clock)
  return is_rank() ? (clock_t)(rank_ns() / (NANO / CLOCKS_PER_SEC)) : real();
}

static void add(struct timeval *to, uint64_t ns) {
  const uint64_t micros = (uint64_t)to->tv_usec + ns / (NANO / MICRO);
  to->tv_sec += (time_t)(micros / MICRO);
  to->tv_usec = (suseconds_t)(micros % MICRO);
}

/* Page faults and the like are the calling thread's. */
EXPORT int getrusage(__rusage_who_t who, struct rusage *to) {
  INTERPOSE_REAL(getrusage)
  if (who != RUSAGE_SELF || !is_rank()) {
    return real(who, to);
  }
  const struct helpers_time t = others();
  const int code = real(RUSAGE_THREAD, to);
  if (code == 0) {
    add(&to->ru_utime, t.user);
    add(&to->ru_stime, t.system);
  }
  return code;
}

static clock_t ticks(const struct timeval *t) {
  const long each = sysconf(_SC_CLK_TCK);
  return (clock_t)(t->tv_sec * each + t->tv_usec * each / MICRO);
}

EXPORT clock_t times(struct tms *to) {
  INTERPOSE_REAL(times)
  struct rusage is;
  const clock_t now = real(to);
  if (to && is_rank() && getrusage(RUSAGE_SELF, &is) == 0) {
    to->tms_utime = ticks(&is.ru_utime);
    to->tms_stime = ticks(&is.ru_stime);
  }
  return now;
}
