#define _GNU_SOURCE
#include "os/thread.h"

#include <signal.h>
#include <time.h>

int thread_start(pthread_t *thread, void *run(void *), void *arg,
                 const char *name) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(thread, NULL, run, arg);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!error) {
    pthread_setname_np(*thread, name);
  }
  return error;
}

uint64_t thread_cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
