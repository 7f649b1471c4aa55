#define _GNU_SOURCE
#include "context/residency/stay.h"

#include "base/self.h"
#include "context/residency/way.h"
#include "context/store/store.h"
#include "os/clock.h"
#include "os/thread.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Calls of MPI between which a residence is timed: to ask the system takes as
   long as many of them do, and pages are read and touched first after a
   context has come in. */
enum { MOST_RUNS = 32 };

static uint64_t usage_of_thread(struct rusage *u) {
  getrusage(RUSAGE_THREAD, u);
  return (uint64_t)u->ru_minflt + (uint64_t)u->ru_majflt;
}

static uint64_t system_ns(const struct rusage *u) {
  return (uint64_t)u->ru_stime.tv_sec * 1000000000 +
         (uint64_t)u->ru_stime.tv_usec * 1000;
}

/* ns that the calling thread could have run, and others did; 0 where the system
   does not say. */
static uint64_t delay_of_thread(void) {
  char text[128];
  (void)thread_tells(0, "schedstat", text, sizeof(text));
  const char *const space = strchr(text, ' ');
  return space ? strtoull(space, NULL, 10) : 0;
}

void stay_begin(struct context *c, bool mapped, bool ready, uint64_t bytes) {
  c->stay = (struct context_stay){
      .timed = true,
      .site = c->site,
      .took = {.mapped = mapped, .ready = ready, .bytes = bytes}};
}

void stay_run(struct context *c) {
  struct context_stay *const s = &c->stay;
  if (s->timed && s->runs < MOST_RUNS) {
    struct rusage u;
    s->runs++;
    s->faults = usage_of_thread(&u);
    s->major = (uint64_t)u.ru_majflt;
    s->system_ns = system_ns(&u);
    s->delay_ns = s->took.mapped ? delay_of_thread() : 0;
    s->wall_ns = clock_ns();
    s->cpu_ns = clock_thread_ns();
    s->running = &self;
  }
}

/* What the thread, which has been stopped, waited for pages, other than for a
   processor. */
static uint64_t waited_ns(const struct context_stay *s, const struct rusage *u,
                          uint64_t wall, uint64_t cpu) {
  if (!s->took.mapped || (uint64_t)u->ru_majflt == s->major) {
    return 0;
  }
  const uint64_t busy = cpu + delay_of_thread() - s->delay_ns;
  return wall > busy ? wall - busy : 0;
}

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
    s->took.faults += n;
    s->took.fault_ns += system_ns(&u) - s->system_ns;
  }
  s->took.waited_ns += waited_ns(s, &u, wall, cpu);
}

void stay_wait(struct context *c) {
  c->stay.took.waits++;
}

uint64_t stay_used_ns(void) {
  return clock_thread_ns() + store_served_ns();
}

void stay_moved(struct context *c, uint64_t ns, uint64_t bytes) {
  c->stay.took.moved_ns += ns;
  c->stay.took.moved += bytes;
}

void stay_read(struct context *c, uint64_t bytes) {
  c->stay.took.read += bytes;
}

void stay_end(struct context *c, bool left) {
  struct context_stay *const s = &c->stay;
  if (s->timed && left) {
    way_took(s->site, &s->took);
  }
  s->timed = false;
  s->running = NULL;
}
