/* The threads that the network layer runs: none of them is a VP's, and none
   takes signals. */
#ifndef PEMS_NET_JOBS_H
#define PEMS_NET_JOBS_H

#include <pthread.h>
#include <stdint.h>

/* Starts a thread. A shortage ends the job. */
void threads_start(pthread_t *thread, void *(*run)(void *), void *arg);

/* Jobs of net_jobs_add (net/am.h) so far: equal if none is under way. */
uint64_t net_jobs_started(void);
uint64_t net_jobs_done(void);
/* Ends the threads, once all jobs are done. */
void net_jobs_stop(void);

#endif
