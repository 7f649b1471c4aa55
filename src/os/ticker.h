/* A thread that does something again and again. */
#ifndef PEMS_OS_TICKER_H
#define PEMS_OS_TICKER_H

#include <pthread.h>
#include <stdbool.h>

#include "os/lock.h"

typedef void ticker_fn(void *arg);

struct ticker {
  pthread_t thread;
  struct lock lock; /* of what follows */
  pthread_cond_t end;
  bool running, ending;
  unsigned ms;
  ticker_fn *f;
  void *arg;
};

/* Calls f(arg) every `ms` milliseconds from now on, in a thread of its own that
   holds no lock, until ticker_stop. Returns 0 or an errno value. */
int ticker_start(struct ticker *t, unsigned ms, ticker_fn *f, void *arg);
/* Waits until f is not running and will not run again. Does nothing to one that
   is all zero or could not be started. */
void ticker_stop(struct ticker *t);

#endif
