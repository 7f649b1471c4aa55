#define _GNU_SOURCE
#include "vp/run_queue_lock.h"

#include "os/lock.h"

#include <stddef.h>

/* Held for a moment, so that it is worth to look again. */
static struct lock lock = LOCK_ADAPTIVE_INITIALIZER(LOCK_RUN_QUEUE);

static void (*after)(void); /* under the lock, which is never lent in a wait */

void run_queue_lock(void) {
  lock_take(&lock);
}

void run_queue_unlock(void) {
  void (*const f)(void) = after;
  after = NULL;
  lock_give(&lock);
  if (f) {
    f();
  }
}

void run_queue_after_locked(void (*f)(void)) {
  after = f;
}
