/* An allgather for other modules. */
#ifndef PEMS_MPI_COLL_ALLGATHER_H
#define PEMS_MPI_COLL_ALLGATHER_H

#include <stddef.h>

struct comm;

/* n bytes of each rank of the addressed group, by rank, to `all` (native
   memory, or the VP's). The lock is not held. An MPI error class. */
int coll_allgather(struct comm *comm, const char *name, const void *mine,
                   size_t n, void *all);

#endif
