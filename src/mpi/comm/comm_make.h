/* What all functions that make communicators share. */
#ifndef PEMS_MPI_COMM_COMM_MAKE_H
#define PEMS_MPI_COMM_COMM_MAKE_H

#include "mpi/object/comm.h"

/* A communicator for the calling VP, a member of `own`; an inter-communicator
   with the disjoint group `remote` if that is not NULL. Its error handler is
   that of `parent`. */
struct comm *comm_make(const struct comm *parent, uint64_t id,
                       const struct group *own, const struct group *remote);

/* Counts a collective call on comm without any communication, and returns the
   id for what it makes; `leader` as in team_derive. */
uint64_t comm_next_id(struct comm *comm, int leader);
/* The same for a member of the new `own` and `remote` (or NULL). */
uint64_t comm_next_id_for(struct comm *comm, const struct group *own,
                          const struct group *remote);
/* The same for a call whose number is known already. */
uint64_t comm_id_for(const struct comm *comm, uint64_t number,
                     const struct group *own, const struct group *remote);

/* With the first n ranks of comm; NULL for the others. Counts as a collective
   call. */
struct comm *comm_make_first(struct comm *comm, int n);

#endif
