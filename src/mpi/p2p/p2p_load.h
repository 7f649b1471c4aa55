/* What p2p_save has written, in another process. */
#ifndef PEMS_MPI_P2P_P2P_LOAD_H
#define PEMS_MPI_P2P_P2P_LOAD_H

#include "checkpoint/stream.h"
#include "mpi/object/rank.h"

#include <stdbool.h>

/* On the rank's thread, when its memory and its communicators are there. No
   rank of the job has gone on. */
void p2p_load(struct rank *rank, struct checkpoint_reader *from);

/* By one thread of each process, when all ranks of the job have been loaded:
   messages find their senders. It takes messages between processes. */
void p2p_load_bind(void);
/* When all of these were handled: has each message found its sender? */
bool p2p_load_bound(void);

#endif
