/* A request made of others: done when all of them are. */
#ifndef PEMS_MPI_REQUEST_COMPOSITE_H
#define PEMS_MPI_REQUEST_COMPOSITE_H

#include "mpi/request/request.h"

/* Takes over the n requests, all of the calling VP; NULL entries are skipped.
   Its error is their first. */
struct request *composite_new(struct comm *comm, struct request **parts, int n,
                              const char *function);

#endif
