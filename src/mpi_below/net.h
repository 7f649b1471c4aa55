/* The real MPI underneath, and what all processes of a job agree on at its
   start and end: those calls are collective over all P. What VPs do meanwhile
   goes by active messages (am.h). Waiting polls with growing pauses, so that k
   threads and P processes can share cores. */
#ifndef PEMS_MPI_BELOW_NET_H
#define PEMS_MPI_BELOW_NET_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts the real MPI; other functions only after it. */
void net_start(int *argc, char ***argv);
void net_finish(void);
/* Ends all processes with `status`. Does not return. */
_Noreturn void net_abort(int status);

int net_size(void);       /* P */
int net_rank(void);       /* this process */
int net_host_size(void);  /* processes on this host */
int net_host_first(void); /* the lowest of them: tells hosts apart */
/* Killed jobs whose files this process has removed when it started. */
int net_swept(void);
/* Among those processes of this host that say the same `color` (>= 0): which
   this is, and how many they are. Called by all processes. */
void net_host_split(int color, int *rank, int *size);
/* Ends the job with one line if `code`, which a call of the real MPI returned,
   is an error. */
void net_check(int code);
/* The real MPI is about to end the job because the network has failed it:
   pemsrun may know why, and ends the job then. Returns if it knows nothing, and
   at once where this process ends the job anyway. */
void net_await_verdict(void);
int net_thread_level(void); /* what the real MPI gives threads */

/* True for the first process of this host that asks: the one to tell why the
   job ends. To others it answers once that one has told, or after 2 s: they
   would take it down before. Safe in a signal handler. */
bool net_first_to_fail(void);
/* The first one has told. Safe in a signal handler. */
void net_failure_told(void);

/* Lowest process with `failed`, known to all, or -1. */
int net_first_failed(int failed);
/* *x = smallest over all processes. */
void net_min(uint64_t *x);
/* all[q * n + i] = process q's mine[i], known to all. */
void net_gather(const uint64_t *mine, uint64_t *all, int n);
/* x[i] = sum over all processes, known to all. */
void net_sum(uint64_t *x, int n);
/* x[i] = largest. */
void net_max(uint64_t *x, int n);

void net_barrier(void);

#endif
