/* A rank's requests and messages in a checkpoint. All ranks of the job have
   stopped at the entry of a call, but for p2p_save_stop. */
#ifndef PEMS_MPI_P2P_P2P_SAVE_H
#define PEMS_MPI_P2P_P2P_SAVE_H

#include "checkpoint/stream.h"
#include "mpi/object/rank.h"

#include <stdbool.h>

/* On the rank's thread, after requests_settle and before its memory is saved:
   what it has that cannot be, with *function filled in if a call has begun it;
   or NULL. */
const char *p2p_save_stop(struct rank *rank, const char **function);
/* Then: will others write to its memory while that is saved? */
bool p2p_save_receives(const struct rank *rank);
/* Messages for a communicator that nobody here has made. */
bool p2p_save_early(void);

/* Is there anything? */
bool p2p_save_any(const struct rank *rank);
/* On any thread. What has come since the rank has stopped is there, too. */
void p2p_save(struct rank *rank, struct checkpoint_writer *to);

#endif
