#include "mpi/comm/comm_make.h"

#include "base/need.h"
#include "mpi/object/topology.h"
#include "os/native.h"

#include <string.h>

/* For the hidden communicator of an inter-communicator's own group: no
   collective call has this number. */
static const uint64_t LOCAL = UINT64_MAX;

/* The groups of an inter-communicator are disjoint: all members know which one
   comes first. */
static const struct group *first_of(const struct group *own,
                                    const struct group *remote) {
  return !remote || own->world[0] < remote->world[0] ? own : remote;
}

static void put_members(const struct group *g, int *world) {
  memcpy(world, g->world, g->n * sizeof(*world));
}

static struct comm *make_intra(uint64_t id, const struct group *own) {
  return comm_new(rank_me(), id, own->world, own->n, own->n,
                  group_rank(own, comm_me()->rank));
}

static struct comm *make_inter(uint64_t id, const struct group *own,
                               const struct group *remote) {
  const struct group *first = first_of(own, remote);
  const struct group *second = first == own ? remote : own;
  const int size = own->n + remote->n;
  int *world = native_alloc(size * sizeof(*world));
  if (!world) {
    return NULL;
  }
  put_members(first, world);
  put_members(second, world + first->n);
  const int rank = group_rank(own, comm_me()->rank);
  struct comm *comm = comm_new(rank_me(), id, world, size, first->n,
                               own == first ? rank : first->n + rank);
  native_free(world);
  if (comm) {
    comm->local = make_intra(team_derive(id, LOCAL, own->world[0]), own);
    if (!comm->local) {
      need_fail("communicator"); /* the others may know of this member */
    }
  }
  return comm;
}

struct comm *comm_make(const struct comm *parent, uint64_t id,
                       const struct group *own, const struct group *remote) {
  struct comm *comm =
      remote ? make_inter(id, own, remote) : make_intra(id, own);
  if (comm) {
    errhandler_set(&comm->errhandler, parent->errhandler);
  }
  return comm;
}

uint64_t comm_id_for(const struct comm *comm, uint64_t number,
                     const struct group *own, const struct group *remote) {
  return team_derive(comm->team->id, number, first_of(own, remote)->world[0]);
}

struct group *comm_group_needed(struct group *group) {
  if (!group) {
    need_fail("group");
  }
  return group;
}

struct comm *comm_make_agreed(const struct comm *comm, uint64_t number,
                              const struct group *own,
                              const struct group *remote) {
  struct comm *made =
      comm_make(comm, comm_id_for(comm, number, own, remote), own, remote);
  if (!made) {
    need_fail("communicator");
  }
  return made;
}

int comm_make_next(struct comm *comm, const struct group *own,
                   const struct group *remote, struct topology *topology,
                   struct comm **made) {
  *made = comm_make(comm, comm_id_for(comm, comm->collectives, own, remote),
                    own, remote);
  if (!*made) {
    topology_free(topology);
    return MPI_ERR_NO_MEM;
  }
  (*made)->topology = topology;
  comm->collectives++;
  return MPI_SUCCESS;
}

int comm_make_first(struct comm *comm, int n, struct topology *topology,
                    struct comm **made) {
  *made = NULL;
  if (comm->rank >= n) {
    comm->collectives++;
    return MPI_SUCCESS;
  }
  struct group *group = topology ? group_new(comm->group->world, n) : NULL;
  if (!group) {
    topology_free(topology);
    return MPI_ERR_NO_MEM;
  }
  const int code = comm_make_next(comm, group, NULL, topology, made);
  group_release(group);
  return code;
}
