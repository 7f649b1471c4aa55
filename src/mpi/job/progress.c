#define _GNU_SOURCE
#include "mpi/job/progress.h"

#include "base/counters.h"
#include "config/options.h"
#include "config/size.h"
#include "context/context.h"
#include "context/residency/residency.h"
#include "os/clock.h"
#include "os/lock.h"
#include "vp/run_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
  pthread_t thread;
  struct lock lock;
  pthread_cond_t end;
  bool running;
  bool ending;
} progress = {.lock = LOCK_INITIALIZER(LOCK_PROGRESS),
              .end = PTHREAD_COND_INITIALIZER};

/* On a terminal one line is rewritten; in a log each is a line of its own. */
static void print_line(uint64_t since, bool terminal) {
  char in[32], out[32], held[32], line[256];
  const int n = snprintf(
      line, sizeof(line),
      "%spems: %4.0f s: %llu supersteps, %d running, %d of %d ranks done, "
      "%s read, %s written, %s resident%s",
      terminal ? "\r" : "", (clock_ns() - since) * 1e-9,
      (unsigned long long)counter_get(supersteps), run_queue_running(),
      run_queue_done(), vps.n - run_queue_dormant(),
      size_format(counter_get(bytes_read), in, sizeof(in)),
      size_format(counter_get(bytes_written), out, sizeof(out)),
      size_format(contexts_resident_bytes(), held, sizeof(held)),
      terminal ? "\033[K" : "\n");
  if (write(STDERR_FILENO, line, n) < 0) {
    return; /* nobody looks */
  }
}

static void *progress_thread(void *arg) {
  (void)arg;
  const uint64_t start = clock_ns();
  const bool terminal = isatty(STDERR_FILENO);
  struct timespec next;
  clock_gettime(CLOCK_REALTIME, &next);
  lock_take(&progress.lock);
  while (!progress.ending) {
    next.tv_sec += 1;
    if (lock_wait_until(&progress.end, &progress.lock, &next) == ETIMEDOUT) {
      print_line(start, terminal);
    }
  }
  lock_give(&progress.lock);
  if (terminal) {
    (void)!write(STDERR_FILENO, "\r\033[K", 4);
  }
  return NULL;
}

void progress_start(bool wanted) {
  progress.running = wanted && pthread_create(&progress.thread, NULL,
                                              progress_thread, NULL) == 0;
}

void progress_stop(void) {
  if (!progress.running) {
    return;
  }
  lock_take(&progress.lock);
  progress.ending = true;
  pthread_cond_signal(&progress.end);
  lock_give(&progress.lock);
  pthread_join(progress.thread, NULL);
  progress.running = false;
}
