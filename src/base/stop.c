#define _GNU_SOURCE
#include "base/stop.h"

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
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

/* For a kernel that gives no timer: SIGALRM may be the program's. */
static void stop_by_alarm(unsigned seconds) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  signal(SIGALRM, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  alarm(seconds);
}

/* The kernel's own calls: timer_create may be the program's, and takes locks.
   SIGALRM would not do, for programs have timers, too: their first signal would
   end the process at once. */
void stop_after(unsigned seconds) {
  static _Atomic int made = -1; /* the timer */
  const struct itimerspec when = {.it_value.tv_sec = seconds};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                           .sigev_signo = SIGKILL};
  int timer = made;
  if (timer >= 0 && syscall(SYS_timer_settime, timer, 0, &when, NULL) == 0) {
    return;
  }
  if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0) {
    made = timer;
    if (syscall(SYS_timer_settime, timer, 0, &when, NULL) == 0) {
      return;
    }
  }
  stop_by_alarm(seconds);
}
