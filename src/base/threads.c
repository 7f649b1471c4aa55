#define _GNU_SOURCE
#include "base/threads.h"

#include "base/message.h"

#include <signal.h>
#include <string.h>

void threads_start(pthread_t *thread, void *(*run)(void *), void *arg) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(thread, NULL, run, arg);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error != 0) {
    msg_fail(MSG_FAILED,
             "network: a thread: %s: raise the limits of processes and memory",
             strerror(error));
  }
}
