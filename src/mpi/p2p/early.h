/* Messages for a communicator that no rank here has made yet: its other members
   may be ahead. All under the scheduler's lock. */
#ifndef PEMS_MPI_P2P_EARLY_H
#define PEMS_MPI_P2P_EARLY_H

#include "mpi/object/team.h"
#include "mpi/p2p/letter.h"

#include <stdbool.h>
#include <stdint.h>

/* Keeps a letter for a member of the team of that id. */
void early_keep(uint64_t id, int member, struct letter *l);
/* The team is there: its members get their letters in the order in which these
   came. */
void early_claim_locked(struct team *team);
/* Takes back what another process sent; NULL if it is not here. */
struct letter *early_withdraw(uint64_t id, int process, uint64_t remote);
bool early_any(void);
/* Frees what nobody has claimed. */
void early_drop(void);

#endif
