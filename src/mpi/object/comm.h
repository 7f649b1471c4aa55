/* Communicators: a rank's handle on a team. */
#ifndef PEMS_MPI_OBJECT_COMM_H
#define PEMS_MPI_OBJECT_COMM_H

#include "mpi/object/errhandler.h"
#include "mpi/object/group.h"
#include "mpi/object/rank.h"
#include "mpi/object/team.h"
#include "mpi_abi/abi.h"
#include "mpi_abi/handle.h"

#include <mpi.h>
#include <stdbool.h>

struct attributes;  /* attribute.c */
struct derivations; /* derivations.c */
struct topology;    /* topology.c */

struct comm {
  struct handle handle;
  struct team *team;
  struct vp *vp; /* whose handle it is */
  int rank;      /* in its own group */
  int peer;      /* its number in the team */
  int index;     /* among the team's members in this process */

  struct group *group;  /* its own */
  struct group *remote; /* the other, or NULL: an intra-communicator */
  int first_peer;       /* peer number of rank 0 of the group that messages and
                           collectives address: the other one, if there is */
  int peers;            /* its size: ranks 0 .. peers - 1 */
  struct comm *local;   /* of an inter-communicator: its own group, hidden from
                           the program; else NULL */

  uint64_t collectives; /* collective calls that it has made */
  const char *function; /* that made it, and where: for reports */
  void *site;
  int users;                    /* requests, windows, files that need it */
  bool freed;                   /* by the program: goes when users is 0 */
  struct comm *next, *previous; /* in rank->comms */

  struct errhandler errhandler;
  struct attributes *attributes;   /* or NULL */
  struct topology *topology;       /* or NULL */
  struct derivations *derivations; /* MPI_Comm_create_group, or NULL */
  MPI_Info info;                   /* own copy, or MPI_INFO_NULL */
  char name[MPI_MAX_OBJECT_NAME];
};

/* The calling VP. */
struct vp *comm_me(void);
/* The rank's communicator whose team has that id, or NULL. */
struct comm *comm_with(const struct rank *rank, uint64_t id);

/* The communicator behind a handle of the calling VP; NULL for what is none. */
struct comm *comm_of(MPI_Comm handle);
MPI_Comm comm_handle(const struct comm *comm); /* NULL: MPI_COMM_NULL */

/* A handle for the calling VP (or `rank`'s), a member of the new team. `world`
   are the team's members, `first` of them in the first group; the VP is member
   `peer`. Attributes, topology, name and error handler are empty. NULL: out of
   memory, and nobody has heard of the VP as a member. */
struct comm *comm_new(struct rank *rank, uint64_t id, const int *world,
                      int size, int first, int peer);
/* One with the same members, which the program does not see, for what must not
   meet other calls: made as by a collective call on comm that needs no
   communication. In use: it goes with comm_unuse. NULL: out of memory, and the
   call does not count. */
struct comm *comm_twin(struct comm *comm);
static inline bool comm_is_inter(const struct comm *comm) {
  return comm->remote != 0;
}
/* Something that is under way needs it. Called by its VP. */
void comm_use(struct comm *comm);
void comm_unuse(struct comm *comm);
/* The program (or who made it) is done with it. */
void comm_free(struct comm *comm);

#endif
