/* Threads of the external-memory library. */
#ifndef PEMS_OS_THREAD_H
#define PEMS_OS_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* Starts one that blocks all signals (handlers are for the program's), with a
   name of at most 15 letters. 0 or an errno value. */
int thread_start(pthread_t *thread, void *run(void *), void *arg,
                 const char *name);
/* CPU time of the calling thread, in nanoseconds. */
uint64_t thread_cpu_ns(void);

#endif
