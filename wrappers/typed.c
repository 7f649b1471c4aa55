#include "wrappers/typed.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "os/thread.h"

static bool is_read(int writer) {
  struct pollfd p[] = {{STDIN_FILENO, POLLIN, 0}, {writer, 0, 0}};
  return poll(p, 2, -1) < 0 || p[1].revents == 0;
}

static bool write_all(int writer, const char *bytes, ssize_t n) {
  while (n > 0) {
    const ssize_t written = write(writer, bytes, (size_t)n);
    if (written < 0 && errno != EINTR) {
      return false;
    }
    bytes += written > 0 ? written : 0;
    n -= written > 0 ? written : 0;
  }
  return true;
}

/* In the background, reading is refused where it would stop the process if the
   thread did not block all signals. */
static bool pass_on(int writer) {
  static const struct timespec pause = {0, 100000000};
  char line[4096];
  const pid_t foreground = tcgetpgrp(STDIN_FILENO);
  const ssize_t n =
      foreground == getpgrp() ? read(STDIN_FILENO, line, sizeof(line)) : -1;
  if (n >= 0) {
    return n > 0 && write_all(writer, line, n);
  }
  nanosleep(&pause, NULL);
  return foreground > 0;
}

static void *run(void *writer) {
  const int fd = (int)(intptr_t)writer;
  while (is_read(fd) && pass_on(fd)) {
  }
  close(fd);
  return NULL;
}

int typed_start(int writer) {
  pthread_t thread;
  const int error = thread_start(&thread, run, (void *)(intptr_t)writer, NULL);
  if (error) {
    close(writer);
    return error;
  }
  return pthread_detach(thread);
}
