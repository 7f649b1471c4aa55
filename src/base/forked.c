#include "base/forked.h"

#include <errno.h>
#include <pthread.h>

#include "base/failure.h"

_Atomic unsigned forked_count;

static void count(void) {
  atomic_fetch_add(&forked_count, 1);
}

static void watch(void) {
  pthread_atfork(NULL, NULL, count);
}

unsigned forked_now(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch);
  return atomic_load_explicit(&forked_count, memory_order_relaxed);
}

int forked_refuse(const char *what, struct pems_error *error) {
  return failure(error, EPERM,
                 "%s: was made before the fork: make another one in the child",
                 what);
}
