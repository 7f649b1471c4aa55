#include "tasks/kind.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/failure.h"

int task_no_memory(struct pems_error *error) {
  return failure(error, ENOMEM, "scheduler: no memory: free some");
}

/* Failures are rare, and there is one lock for those of all schedulers. */
static pthread_mutex_t failing = PTHREAD_MUTEX_INITIALIZER;

int task_fail(struct pems_sched *s, int code, const char *format, ...) {
  va_list args;
  pthread_mutex_lock(&failing);
  if (!atomic_load_explicit(&s->failed, memory_order_relaxed)) {
    va_start(args, format);
    vsnprintf(s->error.text, sizeof(s->error.text), format, args);
    va_end(args);
    s->error.code = code;
    atomic_store_explicit(&s->failed, code, memory_order_release);
  }
  pthread_mutex_unlock(&failing);
  return code;
}
