/* Messages that MPI_Mprobe has taken for a rank: the program has their handles.
   Where handles are those of ranks (handles_fixed); else there are none. */
#ifndef PEMS_MPI_P2P_MATCHED_H
#define PEMS_MPI_P2P_MATCHED_H

#include "mpi/object/rank.h"
#include "mpi/p2p/letter.h"

/* The one behind l, the first for NULL; or NULL. On the rank's thread, or while
   that waits. */
struct letter *matched_next(const struct rank *rank, const struct letter *l);

#endif
