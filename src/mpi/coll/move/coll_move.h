/* The engine of the collectives that only move data (PEMS2, sections 6.2 and
   7.1): each VP says what it sends to whom and receives from whom. */
#ifndef PEMS_MPI_COLL_MOVE_COLL_MOVE_H
#define PEMS_MPI_COLL_MOVE_COLL_MOVE_H

#include "mpi/coll/call/coll.h"
#include "mpi/object/comm.h"
#include "mpi/request/request.h"
#include "mpi/transfer/coll_side.h"

#include <mpi.h>

/* Starts the call. Every member of the team makes it with the same name and
   root. Takes over what the sides hold. The request is done when what the
   member receives is there and what it sends has been taken; its error is
   MPI_SUCCESS or MPI_ERR_TRUNCATE. NULL if memory is short: the member has not
   made the call, and may make it again. */
struct request *coll_move_start(const struct coll_call *call,
                                struct coll_side send,
                                struct coll_side receive);
/* The same, waiting for it. */
int coll_move(struct comm *comm, const char *name, int root,
              struct coll_side send, struct coll_side receive);

/* In place, between processes: what arrives could overwrite what is still to be
   sent, so that a copy of that memory, in the context like the rest, is sent
   instead. MPI_ERR_NO_MEM: there is none. */
int coll_move_copy_outgoing(const struct comm *comm, struct coll_side *send);

#endif
