#define _GNU_SOURCE
#include "base/stop.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

void stop_allow(void) {
  static const int signals[] = {SIGINT, SIGQUIT, SIGTERM};
  enum { N = sizeof(signals) / sizeof(*signals) };
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < N; i++) {
    struct sigaction now;
    if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_IGN) {
      signal(signals[i], SIG_DFL);
    }
    sigaddset(&set, signals[i]);
  }
  sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void stop_after(unsigned seconds) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  signal(SIGALRM, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  alarm(seconds);
}
