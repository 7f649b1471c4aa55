#define _GNU_SOURCE
#include "interpose/crash.h"

#include "base/message.h"
#include "base/source.h"
#include "os/clock.h"
#include "vp/vp.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

/* The time that a child has, the frames that it sees, and the length of what is
   told. */
enum { SECONDS = 5, FRAMES = 200, LINE = 256 };

struct search {
  const struct image *image;
  uintptr_t pc; /* where the signal came */
  bool begun;   /* the frames of the signal handler are past */
  int frames;   /* that were seen */
  bool found;
  const char *library; /* the place: in it, or, NULL, in the program itself */
  uintptr_t address;
};

uintptr_t crash_counter(const ucontext_t *context) {
#if defined __x86_64__
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
  return (uintptr_t)context->uc_mcontext.pc;
#endif
}

/* --- finding the place: in the child --- */

/* Where the function returns to that was called last, if it has not even begun:
   a jump to nowhere. */
static uintptr_t caller_of(const ucontext_t *context) {
#if defined __x86_64__
  return *(const uintptr_t *)context->uc_mcontext.gregs[REG_RSP];
#elif defined __aarch64__
  return (uintptr_t)context->uc_mcontext.regs[30];
#endif
}

static bool look(struct search *s, uintptr_t code) {
  s->found =
      image_place(s->image, (const void *)code, &s->library, &s->address);
  return s->found;
}

/* The innermost function of the program: below it may be libc's. */
static _Unwind_Reason_Code see_frame(struct _Unwind_Context *frame,
                                     void *data) {
  struct search *s = data;
  int exact = 0; /* not the address behind a call */
  const uintptr_t ip = _Unwind_GetIPInfo(frame, &exact);
  s->begun = s->begun || ip == s->pc;
  if (++s->frames > FRAMES || (s->begun && look(s, exact ? ip : ip - 1))) {
    return _URC_END_OF_STACK;
  }
  return _URC_NO_REASON;
}

static void find(struct search *s, const ucontext_t *context) {
  if (context && look(s, s->pc)) {
    return;
  }
  _Unwind_Backtrace(see_frame, s);
  if (context && !s->found) {
    look(s, caller_of(context) - 1);
  }
}

/* The program may have handlers of its own, and block signals. */
static void expect_the_worst(void) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
  const uint64_t usual[4] = {0}; /* the kernel's struct sigaction, and set */
  for (unsigned i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
    syscall(SYS_rt_sigaction, faults[i], usual, NULL, sizeof(*usual));
  }
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, usual, NULL, sizeof(*usual));
  /* The kernel's, not that of the rank, whose memory this is. */
  const struct itimerval end = {.it_value.tv_sec = SECONDS};
  syscall(SYS_setitimer, ITIMER_REAL, &end, NULL);
}

/* Writes two lines: the function by the program's symbols, and then what
   addr2line says, a function and a line, if it is there. */
static _Noreturn void tell(struct search *s, const ucontext_t *context, int fd,
                           const char *program) {
  char text[LINE] = "", number[32];
  expect_the_worst();
  find(s, context);
  if (!s->found) {
    msg_quit(0);
  }
  const char *path = s->library ? s->library : program;
  source_function(path, s->address, text, sizeof(text) - 1);
  strcat(text, "\n");
  const ssize_t written = write(fd, text, strlen(text));
  (void)written; /* a pipe takes so little */
  snprintf(number, sizeof(number), "0x%zx", (size_t)s->address);
  char *const argv[] = {"addr2line", "-s",         "-f",   "-C",
                        "-e",        (char *)path, number, NULL};
  dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
  dup2(fd, STDOUT_FILENO);
  execvp(argv[0], argv);
  msg_quit(0);
}

/* --- asking the child --- */

static long long now_ms(void) {
  return (long long)(clock_ns() / 1000000);
}

/* Until there is no more, or for SECONDS. */
static void read_all(int fd, char *out, size_t size) {
  const long long end = now_ms() + SECONDS * 1000;
  size_t n = 0;
  for (long long left; n < size - 1 && (left = end - now_ms()) > 0;) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, (int)left) < 1) {
      continue;
    }
    const ssize_t got = read(fd, out + n, size - 1 - n);
    if (got <= 0) {
      break;
    }
    n += (size_t)got;
  }
  out[n] = '\0';
}

/* The child shares this process's memory, however large that is, and this
   thread waits until it has become addr2line, or has ended. */
static void ask(struct search *s, const ucontext_t *context, char *said,
                size_t size) {
  int ends[2];
  char program[32];
  snprintf(program, sizeof(program), "/proc/%ld/exe", (long)getpid());
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return;
  }
  const pid_t pid = vfork();
  if (pid == 0) {
    tell(s, context, ends[1], program);
  }
  close(ends[1]);
  if (pid > 0) {
    read_all(ends[0], said, size);
    syscall(SYS_kill, pid, SIGKILL);
    waitpid(pid, NULL, 0); /* fails where the program ignores SIGCHLD */
  }
  close(ends[0]);
}

/* Cuts the next line off *rest. */
static const char *next_line(char **rest) {
  char *const line = *rest;
  const size_t n = strcspn(line, "\n");
  *rest = line + n + (line[n] != '\0');
  line[n] = '\0';
  return line;
}

const char *crash_place(const struct vp *vp, const void *context, char *out,
                        size_t size) {
  char said[3 * LINE] = "";
  out[0] = '\0';
  if (!vp->context) {
    return out;
  }
  struct search s = {.image = &vp->context->image,
                     .pc = context ? crash_counter(context) : 0,
                     .begun = !context};
  ask(&s, context, said, sizeof(said));
  char *rest = said;
  const char *symbol = next_line(&rest), *function = next_line(&rest);
  const char *line = next_line(&rest);
  const size_t n = strcspn(line, " "); /* "solver.c:42 (discriminator 2)" */
  if (*function && *function != '?' && n > 0 && *line != '?' &&
      line[n - 1] != '?') {
    snprintf(out, size, ", in %s (%.*s)", function, (int)n, line);
  } else if (*symbol) {
    snprintf(out, size, ", in %s", symbol);
  }
  return out;
}
