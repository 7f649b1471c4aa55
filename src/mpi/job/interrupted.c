/* The handler of a signal wakes a thread, which may take locks, and waits for
   it, but not for long: somebody may hold those locks for ever, the thread that
   the signal has interrupted, too. */
#define _GNU_SOURCE
#include "mpi/job/interrupted.h"

#include "base/message.h"
#include "base/need.h"
#include "base/text.h"
#include "base/threads.h"
#include "interpose/fatal.h"
#include "mpi/job/stats.h"
#include "mpi/verify/standing.h"
#include "mpi_below/net.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/native.h"
#include "vp/vp.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

/* A launcher that ends a job kills its processes after a second. */
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

static void tell_ranks(void) {
  char lines[REPORT], process[64] = "";
  struct text t = text_in(lines, sizeof(lines));
  struct text of = text_in(process, sizeof(process));
  run_queue_lock();
  const size_t n = standing_own_locked(interrupted.ranks);
  run_queue_unlock();
  for (size_t i = 0; i < n; i++) {
    interrupted.ranks[i].site = 0; /* to look one up takes too long */
  }
  standing_tell(&t, interrupted.ranks, n);
  if (net_size() > 1) {
    text_add(&of, " of process %d of %d", net_rank(), net_size());
  }
  msg_warn("SIG%s: what the ranks%s were doing:%s", name(interrupted.signal),
           process, lines);
}

static void *run(void *arg) {
  (void)arg;
  futex_await(&interrupted.wanted);
  if (interrupted.signal) {
    stats_print_own(interrupted.io, clock_ns() - interrupted.start,
                    name(interrupted.signal));
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
