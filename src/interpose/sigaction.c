/* sigaction and its kin, interposed: each rank has its own handlers, and what
   it sends to its process it sends to itself. */
#define _GNU_SOURCE
#include "interpose/handler.h"

#include "base/self.h"
#include "context/residency/track.h"
#include "interpose/fatal.h"
#include "interpose/malloc.h"
#include "vp/stack.h"
#include "vp/vp.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* The program's own calls only, not those of MPI or pems. In a process that it
   forked the kernel's actions are its own. */
static bool is_ranks(const void *caller) {
  return !self_native() && !malloc_is_pems(caller) && vp_in_job();
}

static int set(int number, const struct sigaction *action,
               struct sigaction *old, const void *caller) {
  /* In a forked child SIGSEGV stays where it is: handler.c. */
  const bool ranks = is_ranks(caller) || (number == SIGSEGV && !self_native() &&
                                          !malloc_is_pems(caller) &&
                                          (track_by_faults() || stacks_grow()));
  return ranks ? handlers_set(number, action, old)
               : handlers_real_set(number, action, old);
}

EXPORT int sigaction(int number, const struct sigaction *action,
                     struct sigaction *old) {
  return set(number, action, old, CALLER);
}

/* Those that siginterrupt was called for; of all ranks, which run the same
   program. */
static _Atomic uint64_t interrupting;

static uint64_t bit(int number) {
  return UINT64_C(1) << ((number - 1) & 63);
}

static sighandler_t set_function(int number, sighandler_t function, int flags,
                                 bool masked, const void *caller) {
  struct sigaction old, new = {.sa_handler = function, .sa_flags = flags};
  sigemptyset(&new.sa_mask);
  if (masked) {
    sigaddset(&new.sa_mask, number);
  }
  if (function == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  return set(number, &new, &old, caller) == 0 ? old.sa_handler : SIG_ERR;
}

static sighandler_t set_bsd(int number, sighandler_t function,
                            const void *caller) {
  const int flags = interrupting & bit(number) ? 0 : SA_RESTART;
  return set_function(number, function, flags, true, caller);
}

EXPORT sighandler_t signal(int number, sighandler_t function) {
  return set_bsd(number, function, CALLER);
}

EXPORT sighandler_t bsd_signal(int number, sighandler_t function) {
  return set_bsd(number, function, CALLER);
}

EXPORT sighandler_t ssignal(int number, sighandler_t function) {
  return set_bsd(number, function, CALLER);
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t function) {
  return set_function(number, function, SA_RESETHAND | SA_NODEFER, false,
                      CALLER);
}

/* What <signal.h> calls signal in strict modes of the compiler. */
EXPORT sighandler_t __sysv_signal(int number, sighandler_t function) {
  return set_function(number, function, SA_RESETHAND | SA_NODEFER, false,
                      CALLER);
}

EXPORT int sigignore(int number) {
  return set_function(number, SIG_IGN, 0, false, CALLER) == SIG_ERR ? -1 : 0;
}

EXPORT int siginterrupt(int number, int interrupts) {
  struct sigaction action;
  if (set(number, NULL, &action, CALLER) != 0) {
    return -1;
  }
  if (interrupts) {
    interrupting |= bit(number);
    action.sa_flags &= ~SA_RESTART;
  } else {
    interrupting &= ~bit(number);
    action.sa_flags |= SA_RESTART;
  }
  return set(number, &action, NULL, CALLER);
}

/* --- masks --- */

static int change_mask(int how, const sigset_t *set, sigset_t *old,
                       const void *caller) {
  static int (*real)(int, const sigset_t *, sigset_t *);
  if (!real) {
    real = (int (*)(int, const sigset_t *, sigset_t *))dlsym(RTLD_NEXT,
                                                             "pthread_sigmask");
  }
  if (!set || !is_ranks(caller)) {
    return real(how, set, old);
  }
  sigset_t own = *set;
  for (int i = 1; how != SIG_UNBLOCK && i < 64; i++) {
    if (handlers_needed() & bit(i)) {
      sigdelset(&own, i);
    }
  }
  const int error = real(how, &own, old);
  handlers_masked();
  return error;
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
  return change_mask(how, set, old, CALLER);
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  const int error = change_mask(how, set, old, CALLER);
  if (error) {
    errno = error;
  }
  return error ? -1 : 0;
}

EXPORT sighandler_t sigset(int number, sighandler_t function) {
  sigset_t one, before;
  sigemptyset(&one);
  if (sigaddset(&one, number) != 0) {
    return SIG_ERR;
  }
  struct sigaction was;
  if (set(number, NULL, &was, CALLER) != 0 ||
      (function != SIG_HOLD &&
       set_function(number, function, 0, false, CALLER) == SIG_ERR)) {
    return SIG_ERR;
  }
  change_mask(function == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &one, &before,
              CALLER);
  return sigismember(&before, number) ? SIG_HOLD : was.sa_handler;
}

/* Kept for the thread, but not given to the kernel: pems has a stack of its own
   there, for handlers may be called when the program's is on disk. Theirs run
   on it, too. */
EXPORT int sigaltstack(const stack_t *stack, stack_t *old) {
  static __thread stack_t own = {.ss_flags = SS_DISABLE};
  if (self_native() || !vp_in_job()) {
    return (int)syscall(SYS_sigaltstack, stack, old);
  }
  if (stack && stack->ss_flags & ~SS_DISABLE) {
    errno = EINVAL;
    return -1;
  }
  if (stack && !(stack->ss_flags & SS_DISABLE) &&
      stack->ss_size < (size_t)MINSIGSTKSZ) {
    errno = ENOMEM;
    return -1;
  }
  if (old) {
    *old = own;
  }
  if (stack) {
    own = *stack;
  }
  return 0;
}

/* --- sending --- */

/* All ranks of a process have its number: who sends to that means itself. */
static bool is_to_itself(pid_t pid, int number, const void *caller) {
  return pid == getpid() && number > 0 && number <= 64 && number != SIGKILL &&
         number != SIGSTOP && is_ranks(caller);
}

EXPORT int kill(pid_t pid, int number) {
  if (is_to_itself(pid, number, CALLER)) {
    return handlers_send(number, SI_USER, (union sigval){0});
  }
  return (int)syscall(SYS_kill, pid, number);
}

EXPORT int sigqueue(pid_t pid, int number, const union sigval value) {
  static int (*real)(pid_t, int, union sigval);
  if (!real) {
    real = (int (*)(pid_t, int, union sigval))dlsym(RTLD_NEXT, "sigqueue");
  }
  if (is_to_itself(pid, number, CALLER)) {
    return handlers_send(number, SI_QUEUE, value);
  }
  return real(pid, number, value);
}

EXPORT int raise(int number) {
  static int (*real)(int);
  if (!real) {
    real = (int (*)(int))dlsym(RTLD_NEXT, "raise");
  }
  if (!self.helper && is_to_itself(getpid(), number, CALLER)) {
    return handlers_send(number, SI_TKILL, (union sigval){0});
  }
  return real(number);
}

/* glibc's would take the handler from the whole process, and end it without a
   word. */
EXPORT _Noreturn void abort(void) {
  sigset_t one;
  if (!self_native() && !malloc_is_pems(CALLER) && vp_in_job()) {
    sigemptyset(&one);
    sigaddset(&one, SIGABRT);
    change_mask(SIG_UNBLOCK, &one, NULL, CALLER);
    raise(SIGABRT);
    fatal_abort();
  }
  void (*real)(void) = (void (*)(void))dlsym(RTLD_NEXT, "abort");
  real();
  __builtin_unreachable();
}
