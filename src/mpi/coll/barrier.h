/* A barrier for other modules. */
#ifndef PEMS_MPI_COLL_BARRIER_H
#define PEMS_MPI_COLL_BARRIER_H

struct comm;
struct request;

/* All members (of both groups) meet. The lock is not held. An MPI error class.
 */
int coll_barrier(struct comm *comm, const char *name);
/* The same, begun: done when all members have come. NULL if memory is short:
   the member has not come. */
struct request *coll_ibarrier(struct comm *comm, const char *name);

#endif
