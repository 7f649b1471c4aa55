/* Communicators of groups. */
#include "base/need.h"
#include "mpi/coll/allgather.h"
#include "mpi/coll/coll.h"
#include "mpi/comm/comm_make.h"
#include "mpi/object/derivations.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

#include <stdbool.h>

static bool is_within(const struct group *inner, const struct group *outer) {
  int *place = group_places(outer);
  int i = 0;
  while (i < inner->n && place[inner->world[i]] >= 0) {
    i++;
  }
  native_free(place);
  return i == inner->n;
}

static struct comm *create_intra(struct comm *comm, const struct group *g) {
  const uint64_t id = comm_next_id(comm, g->n ? g->world[0] : 0);
  return group_rank(g, comm_me()->rank) == MPI_UNDEFINED
             ? NULL
             : comm_make(comm, id, g, NULL);
}

/* The group that the others give, from the rank there that each of them says it
   has (or MPI_UNDEFINED). NULL where they contradict each other. */
static struct group *group_from_ranks(const struct group *all,
                                      const int *ranks) {
  int *world = need_alloc((all->n + 1) * sizeof(*world), "communicator");
  int n = 0;
  for (int i = 0; i < all->n; i++) {
    world[i] = -1;
  }
  for (int i = 0; i < all->n; i++) {
    if (ranks[i] >= 0 && ranks[i] < all->n) {
      world[ranks[i]] = all->world[i];
      n++;
    }
  }
  bool complete = true;
  for (int i = 0; i < n; i++) {
    complete = complete && world[i] >= 0;
  }
  struct group *g = complete ? group_new(world, n) : NULL;
  native_free(world);
  return g;
}

static int create_inter(struct comm *comm, const struct group *own,
                        struct comm **made) {
  const uint64_t number = comm->collectives;
  const int mine = group_rank(own, comm_me()->rank);
  int *ranks = need_alloc(comm->peers * sizeof(*ranks), "communicator");
  int code =
      coll_allgather(comm, "MPI_Comm_create", &mine, sizeof(mine), ranks);
  struct group *remote = code ? NULL : group_from_ranks(comm->remote, ranks);
  native_free(ranks);
  if (!code && !remote) {
    code = MPI_ERR_GROUP;
  }
  *made = NULL;
  if (!code && remote->n && mine != MPI_UNDEFINED) {
    *made =
        comm_make(comm, comm_id_for(comm, number, own, remote), own, remote);
  }
  group_release(remote);
  return code;
}

int pems_Comm_create(MPI_Comm handle, MPI_Group group, MPI_Comm *newcomm) {
  struct comm *comm = comm_of(handle), *made = NULL;
  const struct group *g = group_of(group);
  int code = !comm ? MPI_ERR_COMM : !g ? MPI_ERR_GROUP : MPI_SUCCESS;
  if (!code && !newcomm) {
    code = MPI_ERR_ARG;
  }
  if (!code && !is_within(g, comm->group)) {
    code = MPI_ERR_GROUP;
  }
  if (!code && comm_is_inter(comm)) {
    code = create_inter(comm, g, &made);
  } else if (!code) {
    made = create_intra(comm, g);
  }
  if (!code) {
    *newcomm = comm_handle(made);
  }
  return comm_error(handle, code, "MPI_Comm_create");
}

static uint64_t key_of(const struct group *g, int tag) {
  uint64_t key = tag;
  for (int i = 0; i < g->n; i++) {
    key = team_derive(key, i, g->world[i]);
  }
  return key;
}

int pems_Comm_create_group(MPI_Comm handle, MPI_Group group, int tag,
                           MPI_Comm *newcomm) {
  struct comm *comm = comm_of(handle);
  const struct group *g = group_of(group);
  int code = !comm || comm_is_inter(comm) ? MPI_ERR_COMM
             : tag < 0                    ? MPI_ERR_TAG
             : !group                     ? MPI_ERR_GROUP
             : !newcomm                   ? MPI_ERR_ARG
                                          : MPI_SUCCESS;
  if (code) {
    return comm_error(handle, code, "MPI_Comm_create_group");
  }
  *newcomm = MPI_COMM_NULL;
  if (!g || group_rank(g, comm_me()->rank) == MPI_UNDEFINED) {
    return MPI_SUCCESS;
  }
  if (!is_within(g, comm->group)) {
    return comm_error(handle, MPI_ERR_GROUP, "MPI_Comm_create_group");
  }
  const uint64_t key = key_of(g, tag);
  const uint64_t id =
      team_derive(team_derive(comm->team->id, key, g->world[0]),
                  derivations_count(&comm->derivations, key), g->world[0]);
  *newcomm = comm_handle(comm_make(comm, id, g, NULL));
  return MPI_SUCCESS;
}
