#define _GNU_SOURCE
#include "vp/run_queue_lock.h"

#include "os/futex.h"
#include "os/lock.h"

#include <stddef.h>

/* Held for a moment, so that it is worth to look again. */
static struct lock lock = LOCK_ADAPTIVE_INITIALIZER(LOCK_RUN_QUEUE);

/* What is done once the lock is released. Under the lock, which is never lent
   in a wait. */
static void (*after)(void);
static struct run_queue_go *posted, **posted_end = &posted;

void run_queue_lock(void) {
  lock_take(&lock);
}

void run_queue_post_locked(struct run_queue_go *go) {
  go->next = NULL;
  *posted_end = go;
  posted_end = &go->next;
}

void run_queue_sleep(struct run_queue_go *go) {
  futex_await(&go->word);
}

/* One that is posted may be gone at once. */
static void wake(struct run_queue_go *go) {
  while (go) {
    struct run_queue_go *const next = go->next;
    futex_post(&go->word);
    go = next;
  }
}

void run_queue_unlock(void) {
  void (*const f)(void) = after;
  struct run_queue_go *const go = posted;
  after = NULL;
  posted = NULL;
  posted_end = &posted;
  lock_give(&lock);
  wake(go);
  if (f) {
    f();
  }
}

void run_queue_after_locked(void (*f)(void)) {
  after = f;
}
