#include "base/threads.h"

#include "base/limit.h"
#include "base/message.h"
#include "os/thread.h"

#include <string.h>

void threads_start(pthread_t *thread, void *(*run)(void *), void *arg) {
  /* It writes to memory of ranks, pages of which may be mapped. */
  const struct thread_options options = {.faults = true};
  const int error = thread_start(thread, run, arg, &options);
  if (error != 0) {
    char advice[LIMIT_TEXT];
    msg_fail_here(MSG_FAILED, "starting a thread: %s: %s", strerror(error),
                  limit_advice(advice, LIMIT_THREAD, error, 0,
                               "allow more processes and memory"));
  }
}
