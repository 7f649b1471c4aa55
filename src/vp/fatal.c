#define _GNU_SOURCE
#include "vp/fatal.h"

#include "base/message.h"
#include "net/net.h"
#include "net/watch.h"
#include "vp/self.h"
#include "vp/vp.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK = 64 << 10 };

void *fatal_stack(void) {
  void *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    return NULL;
  }
  const stack_t stack = {.ss_sp = p, .ss_size = STACK};
  sigaltstack(&stack, NULL);
  return p;
}

void fatal_stack_free(void *stack) {
  const stack_t none = {.ss_flags = SS_DISABLE};
  if (stack) {
    sigaltstack(&none, NULL);
    munmap(stack, STACK);
  }
}

/* Lets the signal end the process as if it had not been caught. */
static void re_raise(int signal_number) {
  signal(signal_number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  raise(signal_number);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int pending_signal;

static _Noreturn void end_by_signal(int status) {
  (void)status;
  vps_unlink_images();
  re_raise(pending_signal);
  net_abort(128 + pending_signal);
}

/* Just below the stack, where its guard page is. */
static bool on_guard_page(const struct vp *vp, const void *address) {
  enum { NEAR = 64 << 10 };
  return (uintptr_t)vp->stack + 4096 - (uintptr_t)address < NEAR;
}

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)context;
  if (number == SIGSEGV && track_fault(info->si_addr)) {
    return;
  }
  pending_signal = number;
  if (!self.vp || !vp_in_job() || msg_failing()) {
    re_raise(number);
    return;
  }
  const int rank = self.vp->rank;
  msg_set_end(end_by_signal);
  if (number == SIGSEGV && on_guard_page(self.vp, info->si_addr)) {
    msg_fail(128 + number,
             "rank %d: stack overflow: at 0x%zx: raise the limit (ulimit -s)",
             rank, (size_t)info->si_addr);
  }
  if (number == SIGABRT) {
    msg_fail(128 + number, "rank %d: aborted (SIGABRT): the job ends", rank);
  }
  const struct context *other = context_of(info->si_addr);
  if (other && other != self.vp->context) {
    msg_fail(128 + number, "rank %d: %s: address 0x%zx belongs to rank %d",
             rank, strsignal(number), (size_t)info->si_addr, other->rank);
  }
  if (self.helper) {
    /* Whether it used memory that was away cannot be told: what it read while
       the context came in may have led it anywhere. */
    msg_fail(128 + number,
             "rank %d: %s in a thread that it started: at address 0x%zx: "
             "threads may not use memory while their rank waits in MPI",
             rank, strsignal(number), (size_t)info->si_addr);
  }
  msg_fail(128 + number, "rank %d: %s: at address 0x%zx: the job ends", rank,
           strsignal(number), (size_t)info->si_addr);
}

static void on_interrupt(int number, siginfo_t *info, void *context) {
  (void)context;
  const bool ended = watch_ended_by(info->si_pid);
  pending_signal = number;
  if (!vp_in_job() || msg_failing()) {
    re_raise(number);
    return;
  }
  msg_set_end(end_by_signal);
  if (ended) {
    msg_end(128 + number);
  }
  msg_fail(128 + number,
           "interrupted: %s: the job ends, scratch space is freed",
           number == SIGINT ? "SIGINT" : "SIGTERM");
}

void fatal_install(void) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  struct sigaction action = {.sa_sigaction = on_fault,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK};
  for (unsigned i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
    sigaction(faults[i], &action, NULL);
  }
  struct sigaction interrupt = {.sa_sigaction = on_interrupt,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGINT, &interrupt, NULL);
  sigaction(SIGTERM, &interrupt, NULL);
}
