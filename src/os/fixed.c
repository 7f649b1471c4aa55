#define _GNU_SOURCE
#include "os/fixed.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ASK = 0xffffffff };

bool fixed_possible(void) {
#if defined(__x86_64__) && defined(__GLIBC__) &&                               \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

bool fixed_is(void) {
  const int now = personality(ASK);
  return now >= 0 && now & ADDR_NO_RANDOMIZE;
}

uint64_t fixed_stack_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_STACK, &limit) == 0 ? limit.rlim_cur : 0;
}

static int set_stack_limit(uint64_t bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0) {
    return errno;
  }
  limit.rlim_cur = bytes;
  return setrlimit(RLIMIT_STACK, &limit) == 0 ? 0 : errno;
}

/* Where ld.so is the program, and this one its argument (AT_BASE is 0 then),
   the arguments are not those that were given. */
int fixed_once_more(char **argv, char **envp) {
  char path[PATH_MAX];
  if (!getauxval(AT_BASE)) {
    return ENOEXEC;
  }
  const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (n < 0) {
    return errno;
  }
  path[n] = '\0';
  execve(path, argv, envp);
  return errno;
}

int fixed_again(char **argv, char **envp, uint64_t stack_limit) {
  const int now = personality(ASK);
  if (now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0) {
    return errno;
  }
  const int code = stack_limit ? set_stack_limit(stack_limit) : 0;
  return code ? code : fixed_once_more(argv, envp);
}

/* Their places in the record of a thread are part of the ABI. */
struct fixed_guards fixed_guards(void) {
  struct fixed_guards g = {0, 0};
#if defined(__x86_64__)
  __asm__ volatile("mov %%fs:0x28, %0\n\tmov %%fs:0x30, %1"
                   : "=r"(g.stack), "=r"(g.pointer));
#endif
  return g;
}

__attribute__((no_stack_protector)) void
fixed_set_guards(struct fixed_guards to) {
#if defined(__x86_64__)
  __asm__ volatile("mov %0, %%fs:0x28\n\tmov %1, %%fs:0x30"
                   :
                   : "r"(to.stack), "r"(to.pointer)
                   : "memory");
#else
  (void)to;
#endif
}
