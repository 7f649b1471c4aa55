#include "vp/alarm.h"

#include "base/limit.h"
#include "base/message.h"
#include "base/self.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/thread.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

static struct {
  struct lock lock; /* for what follows */
  pthread_cond_t changed;
  pthread_t thread;
  alarm_fn *f;
  uint64_t when; /* it is set for, or 0 */
  bool running, ending;
} bell = {.lock = LOCK_INITIALIZER(LOCK_ALARM)};

static struct timespec time_of(uint64_t ns) {
  enum { SECOND = 1000000000 };
  return (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)};
}

static void *watch(void *arg) {
  (void)arg;
  lock_take(&bell.lock);
  while (!bell.ending) {
    if (!bell.when) {
      lock_wait(&bell.changed, &bell.lock);
    } else if (clock_ns() < bell.when) {
      const struct timespec until = time_of(bell.when);
      lock_wait_until(&bell.changed, &bell.lock, &until);
    } else {
      bell.when = 0;
      lock_give(&bell.lock);
      bell.f();
      lock_take(&bell.lock);
    }
  }
  lock_give(&bell.lock);
  return NULL;
}

static void start_locked(void) {
  pthread_condattr_t clock;
  enum { STACK = 256 << 10 };
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&bell.changed, &clock);
  pthread_condattr_destroy(&clock);
  self_enter(); /* it is not the program's, whoever starts it */
  const int error = thread_start(&bell.thread, watch, NULL,
                                 &(struct thread_options){.stack = STACK});
  self_leave();
  if (error) {
    char advice[LIMIT_TEXT];
    msg_fail_here(MSG_FAILED, "starting a thread: %s: %s", strerror(error),
                  limit_advice(advice, LIMIT_THREAD, error, STACK,
                               "allow more processes and memory"));
  }
  bell.running = true;
}

void alarm_create(alarm_fn *f) {
  lock_take(&bell.lock);
  bell.f = f;
  bell.when = 0;
  bell.ending = false;
  lock_give(&bell.lock);
}

void alarm_set(uint64_t when) {
  lock_take(&bell.lock);
  if (!bell.running && !bell.ending) {
    start_locked();
  }
  if (!bell.when || when < bell.when) {
    bell.when = when;
    pthread_cond_signal(&bell.changed);
  }
  lock_give(&bell.lock);
}

void alarm_destroy(void) {
  lock_take(&bell.lock);
  const bool running = bell.running;
  bell.ending = true;
  if (running) {
    pthread_cond_signal(&bell.changed);
  }
  lock_give(&bell.lock);
  if (running) {
    pthread_join(bell.thread, NULL);
    pthread_cond_destroy(&bell.changed);
  }
  bell.running = false;
}
