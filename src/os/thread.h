/* Threads of pems itself. They block all signals: handlers belong to the
   program. */
#ifndef PEMS_OS_THREAD_H
#define PEMS_OS_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct thread_options {
  const char *name; /* at most 15 characters; NULL: its creator's */
  size_t stack;     /* bytes; 0, or too few for thread-local data: default */
  bool faults;      /* SIGSEGV and SIGBUS are not blocked: it may touch pages
                       that are protected or mapped */
};

/* Starts a thread. 0 or an errno value. `options` may be NULL. */
int thread_start(pthread_t *thread, void *run(void *), void *arg,
                 const struct thread_options *options);

/* Blocks all signals of the calling thread while it does what no handler may
   interrupt; `before` is for thread_unblock_signals. errno is kept. */
void thread_block_signals(sigset_t *before);
void thread_unblock_signals(const sigset_t *before);

/* What the kernel says of a thread of this process (0: the calling one) in that
   file of its folder in /proc: as a string, as far as there is room. False, and
   an empty one, where it says nothing. */
bool thread_tells(pid_t thread, const char *file, char *text, size_t size);

#endif
