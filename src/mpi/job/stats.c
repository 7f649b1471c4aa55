#include "mpi/job/stats.h"

#include "base/counters.h"
#include "base/message.h"
#include "base/text.h"
#include "config/machine.h"
#include "config/memory_used.h"
#include "context/residency/residency.h"
#include "mpi_below/net.h"
#include "vp/vp.h"

#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *const names[] = {
#define COUNTER_NAME(name, unit, help) #name,
    COUNTERS(COUNTER_NAME)
#undef COUNTER_NAME
};
enum { COUNTERS_N = sizeof(names) / sizeof(names[0]) };

enum { LINE = 8192 }; /* bytes */

struct stats {
  uint64_t sum[COUNTERS_N], most[COUNTERS_N];
  uint64_t memory[MEMORY_USES]; /* the most that a process had */
  uint64_t cpu, cpu_start;      /* ns; until ranks ran */
  uint64_t peak;                /* bytes of the largest process */
  uint64_t ran; /* VPs that ran, at most, when memory had no room for another */
  uint64_t lacked; /* bytes for all contexts of a process to stay in memory */
  uint64_t file;   /* of files, now: the peak has such, too */
};

static uint64_t nanoseconds_of(struct timeval t) {
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

static uint64_t cpu_now(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return nanoseconds_of(usage.ru_utime) + nanoseconds_of(usage.ru_stime);
}

static uint64_t cpu_of_start;

void stats_start(void) {
  cpu_of_start = cpu_now();
}

static void collect_own(struct stats *s) {
  const uint64_t counted[] = {
#define COUNTER_VALUE(name, unit, help) counter_get(name),
      COUNTERS(COUNTER_VALUE)
#undef COUNTER_VALUE
  };
  memcpy(s->sum, counted, sizeof(counted));
  memcpy(s->most, counted, sizeof(counted));
  for (int use = 0; use < MEMORY_USES; use++) {
    s->memory[use] = memory_used_most((enum memory_use)use);
  }
  s->cpu = cpu_now();
  s->cpu_start = cpu_of_start;
  s->peak = machine_peak_rss();
  s->ran = (uint64_t)contexts_ran_when_starved();
  s->lacked = contexts_lacked();
  s->file = machine_file_rss();
}

static void collect_all(struct stats *s) {
  collect_own(s);
  net_sum(s->sum, COUNTERS_N);
  net_max(s->most, COUNTERS_N);
  net_max(s->memory, MEMORY_USES);
  net_sum(&s->cpu, 1);
  net_sum(&s->cpu_start, 1);
  net_max(&s->peak, 1);
  net_max(&s->ran, 1);
  net_max(&s->lacked, 1);
  net_max(&s->file, 1);
}

static void add_counters(struct text *t, const struct stats *s, bool most) {
  for (int i = 0; i < COUNTERS_N; i++) {
    text_add(t, " %s=%llu", names[i], (unsigned long long)s->sum[i]);
  }
  for (int i = 0; i < COUNTERS_N && most; i++) {
    text_add(t, " max_%s=%llu", names[i], (unsigned long long)s->most[i]);
  }
}

/* Of the shares that are counted. */
static void add_memory(struct text *t, const struct stats *s) {
  for (int use = 0; use < MEMORY_USES; use++) {
    if (s->memory[use]) {
      const struct memory_share share =
          memory_plan_share(&vps.plan.memory, (enum memory_use)use);
      text_add(t, " most_%s=%llu share_%s=%llu", share.name,
               (unsigned long long)s->memory[use], share.name,
               (unsigned long long)share.bytes);
    }
  }
}

/* Memory, and not k, has limited how many ranks ran at once. */
static void print_lowered(const struct stats *s, int k) {
  if (s->ran && s->ran < (uint64_t)k) {
    msg_notice(
        "k: lowered from %d to %llu: memory had no room for the contexts "
        "of more ranks at once: give more --pems-memory, or --pems-k=%llu",
        k, (unsigned long long)s->ran, (unsigned long long)s->ran);
  }
}

static void add_plan(struct text *t, const char *io) {
  const struct plan *const plan = &vps.plan;
  text_add(t,
           "RESULT pems v=%d P=%d k=%d mu=%llu memory=%llu resident=%llu io=%s",
           plan->v, plan->nprocs, plan->k, (unsigned long long)plan->mu,
           (unsigned long long)plan->memory.memory,
           (unsigned long long)plan->resident, io);
}

static void add_times(struct text *t, const struct stats *s,
                      uint64_t nanoseconds) {
  text_add(t,
           " lacked=%llu seconds=%.3f cpu_seconds=%.3f start_cpu_seconds=%.3f "
           "peak_rss=%llu file_rss=%llu",
           (unsigned long long)s->lacked, (double)nanoseconds * 1e-9,
           (double)s->cpu * 1e-9, (double)s->cpu_start * 1e-9,
           (unsigned long long)s->peak, (unsigned long long)s->file);
}

/* One write, so that lines of several processes do not mix. */
static void print(struct text *t) {
  text_add(t, "\n");
  const ssize_t written = write(STDERR_FILENO, t->buffer, t->used);
  (void)written; /* nobody looks */
}

void stats_print(const char *io, uint64_t nanoseconds) {
  char line[LINE];
  struct text t = text_in(line, sizeof(line));
  struct stats s;
  collect_all(&s);
  if (net_rank() != 0) {
    return;
  }
  if (net_swept()) {
    msg_notice("jobs that were killed: removed what %d of them had left",
               net_swept());
  }
  print_lowered(&s, vps.plan.k);
  add_plan(&t, io);
  add_counters(&t, &s, net_size() > 1);
  add_memory(&t, &s);
  add_times(&t, &s, nanoseconds);
  print(&t);
}

void stats_add_own(struct text *t, const char *io, uint64_t nanoseconds,
                   const char *signal) {
  struct stats s;
  collect_own(&s);
  add_plan(t, io);
  if (net_size() > 1) {
    text_add(t, " process=%d", net_rank());
  }
  add_counters(t, &s, false);
  add_memory(t, &s);
  add_times(t, &s, nanoseconds);
  text_add(t, " ended_by=SIG%s\n", signal);
}
