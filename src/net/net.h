/* The real MPI underneath: the only users of its communication functions.
   Calls between processes are collective over all P and must be made in the
   same order everywhere; net_turn gives VPs' calls that order. Waiting polls
   with growing pauses, so that k threads and P processes can share cores. */
#ifndef PEMS_NET_NET_H
#define PEMS_NET_NET_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Starts the real MPI; other functions only after it. */
void net_start(int *argc, char ***argv);
void net_finish(void);
/* Ends all processes with `status`. Does not return. */
_Noreturn void net_abort(int status);

int net_size(void);      /* P */
int net_rank(void);      /* this process */
int net_host_size(void); /* processes on this host */
/* Among those processes of this host that say the same `color` (>= 0): which
   this is, and how many they are. Called by all processes. */
void net_host_split(int color, int *rank, int *size);
int net_thread_multiple(void); /* the real MPI may be called by all threads */

/* True for the first process of this host that asks: the one to tell why the
   job ends. Safe in a signal handler. */
int net_first_to_fail(void);

/* Lowest process with `failed`, known to all, or -1. */
int net_first_failed(int failed);
/* *x = smallest over all processes. */
void net_min(uint64_t *x);
/* x[i] = sum over all processes, known to all. */
void net_sum(uint64_t *x, int n);
void net_max(uint64_t *x);

void net_barrier(void);
void net_bcast(void *buffer, size_t n, int root);
/* Sends send[q], n_send[q] bytes, to each process q, receives as much as each
   sends; n_receive[q] is filled in, recv[q] is where the bytes of q land:
   receive + sum of n_receive before q. Total received must fit `room`.
   `*more` is the logical or of all processes' *more. */
void net_exchange(char *const *send, const int *n_send, char *receive,
                  size_t room, int *n_receive, int *more);

/* Reductions of `count` elements in the order of processes. out is not
   defined on other processes than root / on process 0 for exscan. */
void net_reduce(const void *in, void *out, int count, MPI_Datatype type,
                MPI_Op op, int root);
void net_allreduce(const void *in, void *out, int count, MPI_Datatype type,
                   MPI_Op op);
void net_exscan(const void *in, void *out, int count, MPI_Datatype type,
                MPI_Op op);

#endif
