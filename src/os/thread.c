#define _GNU_SOURCE
#include "os/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void thread_block_signals(sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

void thread_unblock_signals(const sigset_t *before) {
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

static int create(pthread_t *thread, size_t stack, void *run(void *),
                  void *arg) {
  pthread_attr_t attr;
  if (!stack) {
    return pthread_create(thread, NULL, run, arg);
  }
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, stack);
  const int error = pthread_create(thread, &attr, run, arg);
  pthread_attr_destroy(&attr);
  /* EINVAL: the program has more thread-local data than that. */
  return error == EINVAL ? create(thread, 0, run, arg) : error;
}

int thread_start(pthread_t *thread, void *run(void *), void *arg,
                 const struct thread_options *options) {
  static const struct thread_options none;
  sigset_t blocked, before;
  options = options ? options : &none;
  sigfillset(&blocked);
  if (options->faults) {
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  const int error = create(thread, options->stack, run, arg);
  thread_unblock_signals(&before);
  if (!error && options->name) {
    pthread_setname_np(*thread, options->name);
  }
  return error;
}

bool thread_tells(pid_t thread, const char *file, char *text, size_t size) {
  char path[64];
  if (thread) {
    snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)thread, file);
  } else {
    snprintf(path, sizeof(path), "/proc/thread-self/%s", file);
  }
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
  if (fd >= 0) {
    close(fd);
  }
  text[n > 0 ? n : 0] = '\0';
  return n > 0;
}
