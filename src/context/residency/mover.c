/* Threads that read the contexts that run next, and write those that wait. */
#define _GNU_SOURCE
#include "context/residency/mover.h"

#include "context/residency/residency.h"
#include "context/residency/swap.h"

#include "os/native.h"

#include <signal.h>

static struct {
  pthread_t *thread;
  int n;
} movers;

static void *mover(void *arg) {
  struct context *c;
  enum move move;
  (void)arg;
  while ((move = residency_next(&c)) != MOVE_NONE) {
    if (move == MOVE_IN) {
      context_swap_in(c, residency_took_frames);
      residency_came(c);
    } else {
      context_swap_out(c);
      residency_went(c);
    }
  }
  return NULL;
}

int movers_start(int n) {
  movers.thread = native_zalloc(n, sizeof(*movers.thread));
  if (!movers.thread) {
    return -1;
  }
  pthread_attr_t attr;
  sigset_t all, before;
  enum { STACK = 256 << 10 };
  sigfillset(&all);
  /* Freeing what came late writes to a context whose pages may be protected
     (--pems-track=fault). */
  sigdelset(&all, SIGSEGV);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, STACK);
  for (movers.n = 0; movers.n < n; movers.n++) {
    if (pthread_create(&movers.thread[movers.n], &attr, mover, NULL) != 0) {
      break;
    }
  }
  pthread_attr_destroy(&attr);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return movers.n ? 0 : -1;
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
