#define _GNU_SOURCE
#include "context/residency/stay.h"

#include "base/self.h"
#include "context/residency/way.h"
#include "os/clock.h"

#include <stdatomic.h>
#include <sys/resource.h>

/* What the system took for faults of all VPs' threads: one alone is too short
   to be measured, where the system counts in ticks. As if some had been before
   the first. */
static struct {
  atomic_ullong n, ns;
} faults = {100000, 150000000};

static uint64_t usage_of_thread(struct rusage *u) {
  getrusage(RUSAGE_THREAD, u);
  return (uint64_t)u->ru_minflt + (uint64_t)u->ru_majflt;
}

static uint64_t system_ns(const struct rusage *u) {
  return (uint64_t)u->ru_stime.tv_sec * 1000000000 +
         (uint64_t)u->ru_stime.tv_usec * 1000;
}

void stay_begin(struct context *c, bool mapped, uint64_t bytes) {
  c->stay = (struct context_stay){
      .timed = true, .mapped = mapped, .site = c->site, .bytes = bytes};
}

void stay_ignore(struct context *c) {
  c->stay.timed = false;
}

void stay_run(struct context *c) {
  struct context_stay *const s = &c->stay;
  if (s->timed) {
    struct rusage u;
    s->faults = usage_of_thread(&u);
    s->major = (uint64_t)u.ru_majflt;
    s->system_ns = system_ns(&u);
    s->wall_ns = clock_ns();
    s->cpu_ns = clock_thread_ns();
    s->running = &self;
  }
}

/* Time that it waited counts only if it waited for pages. */
void stay_stop(struct context *c) {
  struct context_stay *const s = &c->stay;
  if (s->running != &self) { /* another thread of the rank, or nobody */
    return;
  }
  struct rusage u;
  const uint64_t n = usage_of_thread(&u) - s->faults;
  const uint64_t wall = clock_ns() - s->wall_ns;
  const uint64_t cpu = clock_thread_ns() - s->cpu_ns;
  s->running = NULL;
  if (n) {
    faults.n += n;
    faults.ns += system_ns(&u) - s->system_ns;
    s->ns += n * (faults.ns / faults.n);
  }
  if ((uint64_t)u.ru_majflt > s->major && wall > cpu) {
    s->ns += wall - cpu;
  }
}

void stay_moved(struct context *c, uint64_t ns) {
  c->stay.ns += ns;
}

void stay_end(struct context *c, bool left) {
  struct context_stay *const s = &c->stay;
  if (s->timed && left) {
    way_took(s->site, s->mapped, s->ns, s->bytes);
  }
  s->timed = false;
  s->running = NULL;
}
