/* Ending the process at once, by SIGABRT, where pems has found an error of its
   own. Not by abort, which programs on pems have another one of. Safe in a
   signal handler. Includers define _GNU_SOURCE first. */
#ifndef PEMS_OS_DIE_H
#define PEMS_OS_DIE_H

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* With a line, of which as much is written as there is room for. */
static inline _Noreturn void die_saying(const char *line) {
  const struct sigaction standard = {.sa_handler = SIG_DFL};
  if (write(STDERR_FILENO, line, strlen(line)) < 0) {
    __builtin_trap();
  }
  syscall(SYS_rt_sigaction, SIGABRT, &standard, NULL, _NSIG / 8);
  syscall(SYS_tgkill, getpid(), gettid(), SIGABRT);
  __builtin_trap();
}

#endif
