#define _GNU_SOURCE
#include "interpose/fatal.h"

#include "base/message.h"
#include "base/self.h"
#include "base/stop.h"
#include "config/options.h"
#include "config/size.h"
#include "context/calls/allocate.h"
#include "interpose/crash.h"
#include "interpose/handler.h"
#include "mpi_abi/foreign.h"
#include "mpi_below/keeper.h"
#include "mpi_below/net.h"
#include "mpi_below/watch.h"
#include "vp/stack.h"
#include "vp/vp.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
  STACK = 1 << 20, /* the program's handlers run on it, too */
  PLACE = 512,
  LAST_RESORT_SECONDS = 30 /* finding a line of source takes some */
};

void *fatal_stack(void) {
  void *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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
  const struct sigaction usual = {.sa_handler = SIG_DFL};
  keeper_say_bye();
  handlers_real_set(signal_number, &usual, NULL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  raise(signal_number);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

bool (*fatal_on_term)(void);
void (*fatal_on_interrupt)(int number);

static int pending_signal;

static _Noreturn void end_by_signal(int status) {
  (void)status;
  self_enter(); /* what follows is not the program's */
  watch_status(128 + pending_signal);
  re_raise(pending_signal);
  net_abort(128 + pending_signal);
}

/* Below the stack, where its guard is. */
static bool on_guard(const struct vp *vp, const void *address) {
  return (uintptr_t)vp->stack + 4096 - (uintptr_t)address <
         (uintptr_t)4096 + STACK_GUARD;
}

static _Noreturn void overflown(const struct vp *vp, const void *address,
                                const char *place) {
  struct rlimit limit;
  char size[32];
  const bool unlimited =
      getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
  msg_fail(128 + SIGSEGV,
           "rank %d: stack overflow: at 0x%zx%s: a rank has %s%s: raise the "
           "limit (ulimit -s%s), or give more --pems-stack",
           vp->rank, (size_t)address, place,
           size_format(vp->stack_size, size, sizeof(size)),
           unlimited ? ", where the limit is 'unlimited'" : "",
           unlimited ? " 4194304, in KiB" : "");
}

/* The system had no page for what lies in a file. */
static _Noreturn void without_page(const struct vp *vp, const char *place) {
  msg_fail_here(
      MSG_FAILED,
      "rank %d: its stack: no room in the first scratch directory%s: free "
      "some space there or name another directory with --pems-disk",
      vp->rank, place);
}

static bool is_fault(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE ||
         number == SIGILL || number == SIGTRAP;
}

/* By what the VP's own thread has done. */
static _Noreturn void die_of_fault(const struct vp *vp, int number,
                                   const siginfo_t *info, const void *frame) {
  const size_t address = (size_t)info->si_addr;
  const struct context *other = context_of(info->si_addr);
  char hint[CONTEXT_HINT], place[PLACE];
  crash_place(vp, frame, place, sizeof(place));
  if (number == SIGSEGV && on_guard(vp, info->si_addr)) {
    overflown(vp, info->si_addr, place);
  }
  if (number == SIGBUS && stack_is_file(info->si_addr)) {
    without_page(vp, place);
  }
  if (other && other != vp->context) {
    msg_fail(128 + number, "rank %d: %s: address 0x%zx belongs to rank %d%s",
             vp->rank, strsignal(number), address, other->rank, place);
  }
  if (self.helper) {
    /* Whether it used memory that was away cannot be told: what it read while
       the context came in may have led it anywhere. */
    msg_fail(128 + number,
             "rank %d: %s in a thread that it started: at address 0x%zx%s: "
             "threads may not use memory while their rank waits in MPI",
             vp->rank, strsignal(number), address, place);
  }
  msg_fail(128 + number, "rank %d: %s: at address 0x%zx%s%s: the job ends%s",
           vp->rank, strsignal(number), address, place,
           number == SIGSEGV ? foreign_hint(address) : "",
           context_hint(vp->context, hint, sizeof(hint)));
}

static _Noreturn void die_of_abort(const struct vp *vp, const void *frame) {
  char hint[CONTEXT_HINT], place[PLACE];
  crash_place(vp, frame, place, sizeof(place));
  pending_signal = SIGABRT;
  msg_set_end(end_by_signal);
  msg_fail(128 + SIGABRT, "rank %d: aborted (SIGABRT)%s: the job ends%s",
           vp->rank, place, context_hint(vp->context, hint, sizeof(hint)));
}

_Noreturn void fatal_abort(void) {
  die_of_abort(self.vp, NULL);
}

/* No rank's thread: one of pems, of MPI or of a library. */
static _Noreturn void die_without_rank(int number, const siginfo_t *info) {
  const struct context *of = context_of(info->si_addr);
  if (is_fault(number) && info->si_code > 0 && of) {
    msg_fail(128 + number,
             "%s: in a thread of no rank: address 0x%zx belongs to rank %d: "
             "only threads that a rank starts may use its memory",
             strsignal(number), (size_t)info->si_addr, of->rank);
  }
  if (is_fault(number) && info->si_code > 0) {
    msg_fail(128 + number,
             "%s: in a thread of no rank: at address 0x%zx: the job ends",
             strsignal(number), (size_t)info->si_addr);
  }
  msg_fail(128 + number,
           "%s: sent to the process: no rank has a handler: the job ends",
           strsignal(number));
}

static void die(const struct vp *vp, int number, const siginfo_t *info,
                const void *frame) {
  const bool interrupts = number == SIGINT || number == SIGTERM;
  const bool ended = interrupts && watch_ended_by(info->si_pid);
  const struct vp *const of = vp ? vp : self.vp;
  /* The job ends already, and the line that says why may not be out yet. */
  if (vp_in_job() && msg_failing() && !interrupts && !is_fault(number) &&
      number != SIGABRT) {
    return;
  }
  if (number == SIGTERM && !ended && vp_in_job() && !msg_failing() &&
      fatal_on_term && fatal_on_term()) {
    return;
  }
  pending_signal = number;
  if (!vp_in_job() || msg_failing()) {
    re_raise(number);
    return;
  }
  /* It may have come in the midst of anything. */
  stop_after(LAST_RESORT_SECONDS);
  msg_set_end(end_by_signal);
  void (*const tell)(int) = fatal_on_interrupt;
  if (interrupts && tell) {
    tell(number);
  }
  if (ended) {
    msg_end(128 + number);
  }
  if (is_fault(number) && info->si_code > 0 && of) {
    die_of_fault(of, number, info, frame);
  }
  if (number == SIGABRT && of) {
    die_of_abort(of, frame);
  }
  if (vp) {
    msg_fail(128 + number, "rank %d: %s: the job ends", vp->rank,
             strsignal(number));
  }
  if (interrupts) {
    msg_fail(128 + number,
             "interrupted: %s: the job ends, scratch space is freed",
             number == SIGINT ? "SIGINT" : "SIGTERM");
  }
  die_without_rank(number, info);
}

void fatal_install(void) {
  handlers_start(vps.item, vps.n, die);
}
