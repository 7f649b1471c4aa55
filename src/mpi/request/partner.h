/* Whom a rank waits for, for those that decide which contexts are in memory. */
#ifndef PEMS_MPI_REQUEST_PARTNER_H
#define PEMS_MPI_REQUEST_PARTNER_H

#include "mpi/object/comm.h"
#include "mpi/request/request.h"

#include <stdint.h>

/* As residency/awaited.h names a member of a communicator; `peer` may be
   PEER_ANY. */
int partner_at(const struct comm *comm, int peer);
/* Who has to do something yet for a request that is not done. With the
   scheduler's lock. */
int partner_of(const struct request *r);
/* The same seen from its own rank, as a number: of those that wait in one
   function for one neighbour after another, what comes then is told apart. 0:
   nothing of note; r may be NULL. With the scheduler's lock. */
uint64_t partner_apart(const struct request *r);

#endif
