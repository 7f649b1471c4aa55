/* Persistent collective calls (MPI_Bcast_init). Each start is a nonblocking
   call on a communicator that only the request has: requests may be started in
   another order on each rank. */
#ifndef PEMS_MPI_COLL_PERSISTENT_COLL_H
#define PEMS_MPI_COLL_PERSISTENT_COLL_H

#include "mpi/coll/collective.h"
#include "mpi/coll/fold/coll_reduce.h"
#include "mpi/coll/move/coll_move.h"

/* Each makes the request of a call whose arguments are right, and gives it to
   the program. What the sides hold is taken over. Where both sides are in_place
   (MPI_Alltoall), each start swaps what is there. An error class: without
   memory the call does not count. */
int persistent_coll_move(const struct collective *c, int mark,
                         struct coll_side *send, struct coll_side *receive);
int persistent_coll_fold(const struct collective *c, int mark,
                         const struct coll_reduce *f);
/* A call without data; `start` begins it. */
typedef struct request *persistent_coll_start(struct comm *comm,
                                              const char *name);
int persistent_coll_plain(const struct collective *c,
                          persistent_coll_start *start);

#endif
