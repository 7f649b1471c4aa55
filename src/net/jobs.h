/* Threads for what would keep the receiver of active messages too long. */
#ifndef PEMS_NET_JOBS_H
#define PEMS_NET_JOBS_H

#include <stdint.h>

/* Runs f(arg) on a thread of its own that may wait for messages. There are as
   many as needed. */
void net_jobs_add(void (*f)(void *arg), void *arg);

/* Jobs of net_jobs_add so far: equal if none is under way. */
uint64_t net_jobs_started(void);
uint64_t net_jobs_done(void);
/* Ends the threads, once all jobs are done. */
void net_jobs_stop(void);

#endif
