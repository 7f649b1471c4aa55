/* The handler of a signal wakes a thread, which may take locks, and waits for
   it, but not for long: somebody may hold those locks for ever, the thread that
   the signal has interrupted, too. */
#define _GNU_SOURCE
#include "mpi/job/interrupted.h"

#include "base/lifeline.h"
#include "base/need.h"
#include "base/text.h"
#include "base/threads.h"
#include "interpose/fatal.h"
#include "mpi/job/stats.h"
#include "mpi/verify/standing.h"
#include "mpi_below/net.h"
#include "mpi_below/watch.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/native.h"
#include "vp/vp.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A launcher that ends a job kills its processes after a second, and may drop
   what they print. */
enum { REPORT = 7000, PATIENCE_MS = 700 };

static struct {
  pthread_t thread;
  bool running;
  _Atomic uint32_t wanted; /* posted: print, or end */
  _Atomic int signal;      /* 0: end */
  atomic_bool told;
  const char *io;
  uint64_t start;
  struct standing *ranks; /* room for all: memory may be locked, then */
} interrupted;

static const char *name(int number) {
  const char *const known = sigabbrev_np(number);
  return known ? known : "?";
}

/* By a single write: texts of several processes do not mix. */
static void say(const struct text *t) {
  if (net_size() == 1 || !watch_print(t->buffer)) {
    const ssize_t written = write(STDERR_FILENO, t->buffer, t->used);
    (void)written; /* nobody looks */
  }
}

static void tell_counters(void) {
  char line[LIFELINE_TEXT_SIZE];
  struct text t = text_in(line, sizeof(line));
  stats_add_own(&t, interrupted.io, clock_ns() - interrupted.start,
                name(interrupted.signal));
  say(&t);
}

static void tell_ranks(void) {
  char lines[REPORT], whole[LIFELINE_TEXT_SIZE];
  struct text l = text_in(lines, sizeof(lines));
  struct text t = text_in(whole, sizeof(whole));
  run_queue_lock();
  const size_t n = standing_own_locked(interrupted.ranks);
  run_queue_unlock();
  for (size_t i = 0; i < n; i++) {
    interrupted.ranks[i].site = 0; /* to look one up takes too long */
  }
  standing_tell(&l, interrupted.ranks, n);
  text_add(&t, "pems: SIG%s: what the ranks", name(interrupted.signal));
  if (net_size() > 1) {
    text_add(&t, " of process %d of %d", net_rank(), net_size());
  }
  text_add(&t, " were doing:%s\n", lines);
  say(&t);
}

static void *run(void *arg) {
  (void)arg;
  futex_await(&interrupted.wanted);
  if (interrupted.signal) {
    tell_counters();
    tell_ranks();
    atomic_store(&interrupted.told, true);
  }
  return NULL;
}

/* In a handler. Of several signals the first is told. */
static void on_interrupt(int number) {
  const struct timespec pause = {0, 1000000};
  int none = 0;
  if (atomic_compare_exchange_strong(&interrupted.signal, &none, number)) {
    futex_post(&interrupted.wanted);
  }
  for (int i = 0; i < PATIENCE_MS && !atomic_load(&interrupted.told); i++) {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
  }
}

void interrupted_start(const char *io, uint64_t start) {
  interrupted.io = io;
  interrupted.start = start;
  interrupted.ranks =
      need_zalloc((size_t)vps.n, sizeof(*interrupted.ranks), "--pems-stats");
  threads_start(&interrupted.thread, run, NULL);
  interrupted.running = true;
  fatal_on_interrupt = on_interrupt;
}

void interrupted_stop(void) {
  if (!interrupted.running) {
    return;
  }
  fatal_on_interrupt = NULL;
  futex_post(&interrupted.wanted);
  pthread_join(interrupted.thread, NULL);
  native_free(interrupted.ranks);
  interrupted.running = false;
}
