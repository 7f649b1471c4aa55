#define _GNU_SOURCE
#include "os/ticker.h"

#include <errno.h>
#include <time.h>

#include "os/thread.h"

static struct timespec after(unsigned ms) {
  const long second = 1000000000;
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_sec += ms / 1000;
  t.tv_nsec += (long)(ms % 1000) * 1000000;
  t.tv_sec += t.tv_nsec / second;
  t.tv_nsec %= second;
  return t;
}

/* False when it is to end. */
static bool wait_locked(struct ticker *t) {
  const struct timespec until = after(t->ms);
  while (!t->ending &&
         lock_wait_until(&t->end, &t->lock, &until) != ETIMEDOUT) {
  }
  return !t->ending;
}

static void *tick(void *arg) {
  struct ticker *const t = arg;
  lock_take(&t->lock);
  while (wait_locked(t)) {
    lock_give(&t->lock);
    t->f(t->arg);
    lock_take(&t->lock);
  }
  lock_give(&t->lock);
  return NULL;
}

int ticker_start(struct ticker *t, unsigned ms, ticker_fn *f, void *arg) {
  lock_init(&t->lock, LOCK_TICKER);
  pthread_cond_init(&t->end, NULL);
  t->ending = false;
  t->ms = ms;
  t->f = f;
  t->arg = arg;
  const int error = thread_start(&t->thread, tick, t, NULL);
  t->running = !error;
  return error;
}

void ticker_stop(struct ticker *t) {
  if (!t->running) {
    return;
  }
  lock_take(&t->lock);
  t->ending = true;
  pthread_cond_signal(&t->end);
  lock_give(&t->lock);
  pthread_join(t->thread, NULL);
  pthread_cond_destroy(&t->end);
  lock_destroy(&t->lock);
  t->running = false;
}
