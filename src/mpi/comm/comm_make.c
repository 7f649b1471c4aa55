#include "mpi/comm/comm_make.h"

#include "base/need.h"
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
  int *world = need_alloc(size * sizeof(*world), "communicator");
  put_members(first, world);
  put_members(second, world + first->n);
  const int rank = group_rank(own, comm_me()->rank);
  struct comm *comm = comm_new(rank_me(), id, world, size, first->n,
                               own == first ? rank : first->n + rank);
  native_free(world);
  comm->local = make_intra(team_derive(id, LOCAL, own->world[0]), own);
  return comm;
}

struct comm *comm_make(const struct comm *parent, uint64_t id,
                       const struct group *own, const struct group *remote) {
  struct comm *comm =
      remote ? make_inter(id, own, remote) : make_intra(id, own);
  comm->errhandler = parent->errhandler;
  return comm;
}

uint64_t comm_next_id(struct comm *comm, int leader) {
  return team_derive(comm->team->id, comm->collectives++, leader);
}

uint64_t comm_next_id_for(struct comm *comm, const struct group *own,
                          const struct group *remote) {
  return comm_next_id(comm, first_of(own, remote)->world[0]);
}

uint64_t comm_id_for(const struct comm *comm, uint64_t number,
                     const struct group *own, const struct group *remote) {
  return team_derive(comm->team->id, number, first_of(own, remote)->world[0]);
}

struct comm *comm_make_first(struct comm *comm, int n) {
  const uint64_t id = comm_next_id(comm, comm->group->world[0]);
  if (comm->rank >= n) {
    return NULL;
  }
  struct group *group = group_new(comm->group->world, n);
  struct comm *made = comm_make(comm, id, group, NULL);
  group_release(group);
  return made;
}
