#define _GNU_SOURCE
#include "mpi/job/progress.h"

#include "base/counters.h"
#include "config/options.h"
#include "config/size.h"
#include "context/context.h"
#include "context/residency/residency.h"
#include "os/clock.h"
#include "os/ticker.h"
#include "vp/dispatch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EVERY_MS = 1000 };

static struct {
  struct ticker ticker;
  uint64_t start; /* ns */
  bool terminal;
} progress;

/* On a terminal one line is rewritten; in a log each is a line of its own. */
static void print_line(void *arg) {
  (void)arg;
  const bool terminal = progress.terminal;
  char in[32], out[32], held[32], line[256];
  const int n = snprintf(
      line, sizeof(line),
      "%spems: %4.0f s: %llu supersteps, %d running, %d of %d ranks done, "
      "%s read, %s written, %s resident%s",
      terminal ? "\r" : "", (clock_ns() - progress.start) * 1e-9,
      (unsigned long long)counter_get(supersteps), dispatch_running(),
      dispatch_done(), vps.n - dispatch_dormant(),
      size_format(counter_get(bytes_read), in, sizeof(in)),
      size_format(counter_get(bytes_written), out, sizeof(out)),
      size_format(contexts_resident_bytes(), held, sizeof(held)),
      terminal ? "\033[K" : "\n");
  if (write(STDERR_FILENO, line, n) < 0) {
    return; /* nobody looks */
  }
}

void progress_start(bool wanted) {
  if (wanted) {
    progress.start = clock_ns();
    progress.terminal = isatty(STDERR_FILENO);
    (void)ticker_start(&progress.ticker, EVERY_MS, print_line, NULL);
  }
}

void progress_stop(void) {
  const bool ran = progress.ticker.running;
  ticker_stop(&progress.ticker);
  if (ran && progress.terminal) {
    (void)!write(STDERR_FILENO, "\r\033[K", 4);
  }
}
