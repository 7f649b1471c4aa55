#define _GNU_SOURCE
#include "os/guided.h"

#include <errno.h>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) &&                   \
    !defined(__SANITIZE_THREAD__)

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif
#ifndef SYS_USER_DISPATCH
#define SYS_USER_DISPATCH 2
#endif

enum { ALLOWED, CAUGHT, SET_BYTES = 8 };

/* As the kernel has them. */
struct action {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
};

static __thread struct {
  volatile char selector; /* the kernel reads it at each call */
  bool waits;             /* for the mapping */
  uintptr_t at;
  int code;
  uint64_t mask; /* to be restored, */
  struct action action;
} guide __attribute__((tls_model("initial-exec")));

/* The end of a signal's handler, the one call that is never caught. */
void guided_restore(void);
__asm__(".pushsection .text\n"
        ".type guided_restore, @function\n"
        "guided_restore:\n"
        "  mov $15, %eax\n" /* rt_sigreturn */
        "  syscall\n"
        "  ud2\n"
        ".size guided_restore, . - guided_restore\n"
        ".popsection\n");
/* Of it, and the next: the kernel looks at where the call returns to. */
enum { RESTORE_BYTES = 8 };

struct call {
  long number, arg[6];
};

static long make(const struct call *c) {
  register long r10 __asm__("r10") = c->arg[3];
  register long r8 __asm__("r8") = c->arg[4];
  register long r9 __asm__("r9") = c->arg[5];
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(c->number), "D"(c->arg[0]), "S"(c->arg[1]),
                     "d"(c->arg[2]), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

/* Where a file is aligned to more than pages, ld.so takes addresses first. */
static bool is_meant(const struct call *c) {
  const long flags = c->arg[3];
  return c->number == SYS_mmap && c->arg[0] == 0 &&
         !(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) &&
         ((int)c->arg[4] >= 0 ||
          (c->arg[2] == PROT_NONE && flags == (MAP_PRIVATE | MAP_ANONYMOUS)));
}

static long make_there(struct call c) {
  c.arg[0] = (long)guide.at;
  c.arg[3] |= MAP_FIXED_NOREPLACE;
  const long result = make(&c);
  guide.waits = false;
  guide.code = result < 0 ? (int)-result : 0;
  return result;
}

/* In place of a system call. Only where it is the end of another handler it is
   made where that handler's frame is. */
static void caught(int signal, siginfo_t *info, void *arg) {
  greg_t *const r = ((ucontext_t *)arg)->uc_mcontext.gregs;
  const struct call c = {
      (long)info->si_syscall,
      {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]}};
  (void)signal;
  guide.selector = ALLOWED;
  if (info->si_code != SYS_USER_DISPATCH) {
    r[REG_RAX] = -ENOSYS; /* a filter of system calls refuses this one */
  } else if (c.number == SYS_rt_sigreturn) {
    r[REG_RIP] = (greg_t)(uintptr_t)guided_restore;
  } else {
    r[REG_RAX] = is_meant(&c) ? make_there(c) : make(&c);
  }
  guide.selector = guide.waits ? CAUGHT : ALLOWED;
}

static int set_action(const struct action *to, struct action *was) {
  return syscall(SYS_rt_sigaction, SIGSYS, to, was, SET_BYTES) == 0 ? 0 : errno;
}

static int set_mask(int how, const uint64_t *to, uint64_t *was) {
  return syscall(SYS_rt_sigprocmask, how, to, was, SET_BYTES) == 0 ? 0 : errno;
}

static int catch_calls(bool on) {
  const uintptr_t free_call = on ? (uintptr_t)guided_restore : 0;
  return prctl(PR_SET_SYSCALL_USER_DISPATCH,
               on ? PR_SYS_DISPATCH_ON : PR_SYS_DISPATCH_OFF, free_call,
               on ? RESTORE_BYTES : 0, on ? &guide.selector : NULL) == 0
             ? 0
             : errno;
}

int guided_begin(void *at) {
  enum { RESTORER = 0x04000000 }; /* what sigaction adds by itself */
  const struct action action = {caught,
                                SA_SIGINFO | SA_ONSTACK | SA_NODEFER | RESTORER,
                                guided_restore, 0};
  const uint64_t only = UINT64_C(1) << (SIGSYS - 1);
  guide.selector = ALLOWED;
  guide.at = (uintptr_t)at;
  guide.code = ENOENT;
  int code = catch_calls(true);
  if (code) {
    return code;
  }
  code = set_action(&action, &guide.action);
  code = code ? code : set_mask(SIG_UNBLOCK, &only, &guide.mask);
  if (code) {
    (void)catch_calls(false);
    return code;
  }
  guide.waits = true;
  guide.selector = CAUGHT;
  return 0;
}

int guided_end(void) {
  guide.selector = ALLOWED;
  guide.waits = false;
  (void)catch_calls(false);
  (void)set_mask(SIG_SETMASK, &guide.mask, NULL);
  (void)set_action(&guide.action, NULL);
  return guide.code;
}

#else

int guided_begin(void *at) {
  (void)at;
  return ENOTSUP;
}

int guided_end(void) {
  return ENOENT;
}

#endif
