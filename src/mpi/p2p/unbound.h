/* Letters of a checkpoint whose sends, which wait for their receivers, are not
   known yet in this process. */
#ifndef PEMS_MPI_P2P_UNBOUND_H
#define PEMS_MPI_P2P_UNBOUND_H

#include "mpi/object/rank.h"
#include "mpi/p2p/endpoint.h"

#include <stdbool.h>
#include <stdint.h>

/* With the lock, while the rank of the endpoint waits: the letter of the send
   that the checkpoint knew by that number; or NULL. *matched: MPI_Mprobe has
   taken it. */
struct letter *unbound_find_locked(const struct endpoint *e,
                                   enum p2p_channel channel, int source,
                                   uint64_t number, bool *matched);
/* Has the rank any? While it waits. */
bool unbound_any(const struct rank *rank);

#endif
