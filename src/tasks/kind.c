#include "tasks/kind.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/failure.h"
#include "os/lock.h"

int task_no_memory(struct pems_error *error) {
  return failure(error, ENOMEM, "scheduler: no memory: free some");
}

/* Failures are rare, and there is one lock for those of all schedulers. */
static struct lock failing = LOCK_INITIALIZER(LOCK_TASK_FAILURE);

int task_fail(struct pems_sched *s, int code, const char *format, ...) {
  va_list args;
  lock_take(&failing);
  if (!atomic_load_explicit(&s->failed, memory_order_relaxed)) {
    va_start(args, format);
    vsnprintf(s->error.text, sizeof(s->error.text), format, args);
    va_end(args);
    s->error.code = code;
    atomic_store_explicit(&s->failed, code, memory_order_release);
  }
  lock_give(&failing);
  return code;
}
