/* A request made of others: done when all of them are. */
#ifndef PEMS_MPI_REQUEST_COMPOSITE_H
#define PEMS_MPI_REQUEST_COMPOSITE_H

#include "mpi/request/request.h"

/* Takes over the n requests, all of the calling VP; NULL entries are skipped.
   Its error is their first. */
struct request *composite_new(struct comm *comm, struct request **parts, int n,
                              const char *function);

/* The same of n persistent requests that are not active, as a persistent one:
   its start is theirs, and they go with it. NULL: out of memory, and they are
   left alone. */
struct request *composite_persistent(struct comm *comm, struct request **parts,
                                     int n, const char *function);

/* A message each way (MPI_Isendrecv): what the result says is the receive's.
   Takes over both, begun. */
struct request *composite_exchange(struct request *send,
                                   struct request *receive,
                                   const char *function);

#endif
