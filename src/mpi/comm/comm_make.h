/* What all functions that make communicators share. */
#ifndef PEMS_MPI_COMM_COMM_MAKE_H
#define PEMS_MPI_COMM_COMM_MAKE_H

#include "mpi/object/comm.h"

struct topology;

/* A communicator for the calling VP, a member of `own`; an inter-communicator
   with the disjoint group `remote` if that is not NULL. Its error handler is
   that of `parent`. NULL: out of memory. */
struct comm *comm_make(const struct comm *parent, uint64_t id,
                       const struct group *own, const struct group *remote);

/* The id for what a member of the new `own` and `remote` (or NULL) makes with
   its collective call of this number. */
uint64_t comm_id_for(const struct comm *comm, uint64_t number,
                     const struct group *own, const struct group *remote);

/* For calls in which the members have spoken already, so that they wait for
   this one: a shortage ends the job. Of what comes: NULL is out of memory. */
struct group *comm_group_needed(struct group *group);
struct comm *comm_make_agreed(const struct comm *comm, uint64_t number,
                              const struct group *own,
                              const struct group *remote);

/* Makes one as comm_make, with a collective call on comm that needs no
   communication, and gives it the topology (or NULL). An error class: out of
   memory, the topology is freed and the call does not count, so that the rank
   joins the others when it calls again. */
int comm_make_next(struct comm *comm, const struct group *own,
                   const struct group *remote, struct topology *topology,
                   struct comm **made);
/* The same with the first n ranks of comm; *made is NULL for the others, whose
   topology is not looked at. NULL for it is taken as out of memory. */
int comm_make_first(struct comm *comm, int n, struct topology *topology,
                    struct comm **made);

#endif
