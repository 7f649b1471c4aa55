/* Threads that read the contexts that run next, and write those that wait. */
#define _GNU_SOURCE
#include "context/residency/mover.h"

#include "context/residency/residency.h"
#include "context/residency/segment.h"
#include "context/residency/swap.h"

#include "os/native.h"
#include "os/thread.h"

#include <errno.h>
#include <signal.h>

static struct {
  pthread_t *thread;
  int n;
} movers;

static void *mover(void *arg) {
  struct context *c;
  enum residency_move move;
  (void)arg;
  while ((move = residency_next(&c)) != MOVE_NONE) {
    if (move == MOVE_IN) {
      segments_come(c);
      context_swap_in(c, residency_took_frames);
      residency_came(c);
    } else {
      context_swap_out(c);
      segments_go(c);
      residency_went(c);
    }
  }
  return NULL;
}

int movers_start(int n) {
  movers.thread = native_zalloc(n, sizeof(*movers.thread));
  if (!movers.thread) {
    return ENOMEM;
  }
  int code = 0;
  /* Freeing what came late writes to a context whose pages may be protected
     (--pems-track=fault). */
  const struct thread_options options = {.stack = 256 << 10, .faults = true};
  for (movers.n = 0; movers.n < n; movers.n++) {
    code = thread_start(&movers.thread[movers.n], mover, NULL, &options);
    if (code) {
      break;
    }
  }
  return movers.n ? 0 : code;
}

void movers_stop(void) {
  residency_stop();
  for (int i = 0; i < movers.n; i++) {
    pthread_join(movers.thread[i], NULL);
  }
  native_free(movers.thread);
  movers.thread = NULL;
  movers.n = 0;
}
