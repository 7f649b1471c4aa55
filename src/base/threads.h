/* Threads of pems itself: none of them is a VP's, and none takes signals. */
#ifndef PEMS_BASE_THREADS_H
#define PEMS_BASE_THREADS_H

#include <pthread.h>

/* Starts a thread. A shortage ends the job. */
void threads_start(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
