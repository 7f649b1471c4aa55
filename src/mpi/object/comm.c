#include "mpi/object/comm.h"

#include "base/self.h"
#include "mpi/object/attribute.h"
#include "mpi/object/derivations.h"
#include "mpi/object/topology.h"
#include "mpi_below/real.h"
#include "os/native.h"

#include <string.h>

struct vp *comm_me(void) {
  return self.vp;
}

struct comm *comm_with(const struct rank *rank, uint64_t id) {
  struct comm *c = rank->comms;
  while (c && c->team->id != id) {
    c = c->next;
  }
  return c;
}

/* --- handles --- */

struct comm *comm_of(MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD) {
    return rank_me()->world;
  }
  if (handle == MPI_COMM_SELF) {
    return rank_me()->self;
  }
  if (!handle || handle == MPI_COMM_NULL) {
    return NULL;
  }
  struct comm *const comm = handle_object(ABI_OBJECT(handle), HANDLE_COMM);
  return comm && !comm->freed ? comm : NULL;
}

MPI_Comm comm_handle(const struct comm *comm) {
  if (!comm) {
    return MPI_COMM_NULL;
  }
  const struct rank *rank = comm->vp->mpi;
  return comm == rank->world  ? MPI_COMM_WORLD
         : comm == rank->self ? MPI_COMM_SELF
                              : ABI_HANDLE(MPI_Comm, comm);
}

static void set_groups(struct comm *comm) {
  const struct team *team = comm->team;
  const bool second = comm->peer >= team->first;
  comm->group = group_hold(team->groups[second]);
  comm->rank = comm->peer - (second ? team->first : 0);
  comm->index = team->index[comm->peer];
  comm->first_peer = 0;
  comm->peers = team->size;
  if (team->groups[1]) {
    comm->remote = group_hold(team->groups[!second]);
    comm->first_peer = second ? 0 : team->first;
    comm->peers = comm->remote->n;
  }
}

struct comm *comm_new(struct rank *rank, uint64_t id, const int *world,
                      int size, int first, int peer) {
  struct comm *comm = native_zalloc(1, sizeof(*comm));
  struct team *team = comm ? team_join(id, world, size, first) : NULL;
  if (!team) {
    native_free(comm);
    return NULL;
  }
  comm->handle = handle_make(HANDLE_COMM);
  comm->vp = rank->vp;
  comm->team = team;
  comm->peer = peer;
  comm->info = MPI_INFO_NULL;
  comm->function = self.function;
  comm->site = self.site;
  set_groups(comm);
  comm->next = rank->comms;
  if (comm->next) {
    comm->next->previous = comm;
  }
  rank->comms = comm;
  return comm;
}

struct comm *comm_twin(struct comm *comm) {
  const struct team *team = comm->team;
  struct comm *twin = comm_new(
      comm->vp->mpi, team_derive(team->id, comm->collectives, team->world[0]),
      team->world, team->size, team->first, comm->peer);
  if (!twin) {
    return NULL;
  }
  comm->collectives++;
  memcpy(twin->name, comm->name, sizeof(twin->name));
  errhandler_set(&twin->errhandler, comm->errhandler);
  comm_use(twin);
  comm_free(twin);
  return twin;
}

/* All that it has beside its team. */
static void forget(struct comm *comm) {
  if (comm->local) {
    comm_free(comm->local);
  }
  if (comm->info != MPI_INFO_NULL) {
    real.Info_free(&comm->info);
  }
  errhandler_unset(&comm->errhandler);
  attributes_free(comm->attributes);
  topology_free(comm->topology);
  derivations_free(comm->derivations);
}

static void comm_destroy(struct comm *comm) {
  struct rank *rank = comm->vp->mpi;
  if (comm->next) {
    comm->next->previous = comm->previous;
  }
  *(comm->previous ? &comm->previous->next : &rank->comms) = comm->next;
  forget(comm);
  team_leave(comm->team);
  group_release(comm->group);
  group_release(comm->remote);
  handle_end(&comm->handle);
  native_free(comm);
}

void comm_use(struct comm *comm) {
  comm->users++;
}

void comm_unuse(struct comm *comm) {
  if (--comm->users == 0 && comm->freed) {
    comm_destroy(comm);
  }
}

void comm_free(struct comm *comm) {
  struct rank *rank = comm->vp->mpi;
  if (rank->parent == comm) {
    rank->parent = NULL;
  }
  comm->freed = true;
  if (comm->users == 0) {
    comm_destroy(comm);
  }
}
