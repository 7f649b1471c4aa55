/* Communicators of groups. */
#include "base/need.h"
#include "mpi/coll/allgather.h"
#include "mpi/coll/call/coll.h"
#include "mpi/comm/comm_make.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/derivations.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

#include <stdbool.h>

/* MPI_ERR_GROUP where a member of `inner` is not in `outer`. */
static int check_within(const struct group *inner, const struct group *outer) {
  int *place = group_places(outer);
  if (!place) {
    return MPI_ERR_NO_MEM;
  }
  int i = 0;
  while (i < inner->n && place[inner->world[i]] >= 0) {
    i++;
  }
  native_free(place);
  return i == inner->n ? MPI_SUCCESS : MPI_ERR_GROUP;
}

static int create_intra(struct comm *comm, const struct group *g,
                        struct comm **made) {
  if (group_rank(g, comm_me()->rank) == MPI_UNDEFINED) {
    comm->collectives++;
    return MPI_SUCCESS;
  }
  return comm_make_next(comm, g, NULL, NULL, made);
}

/* The group that the others give, from the rank there that each of them says it
   has (or MPI_UNDEFINED). NULL where they contradict each other.
   All have spoken already: a shortage ends the job. */
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
  struct group *g = complete ? comm_group_needed(group_new(world, n)) : NULL;
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
    *made = comm_make_agreed(comm, number, own, remote);
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
  if (!code) {
    code = check_within(g, comm->group);
  }
  if (!code && comm_is_inter(comm)) {
    code = create_inter(comm, g, &made);
  } else if (!code) {
    code = create_intra(comm, g, &made);
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

/* The call counts where it succeeds: the others' did, so this rank may call
   again. */
static int create_group(struct comm *comm, const struct group *g, int tag,
                        MPI_Comm *newcomm) {
  const uint64_t key = key_of(g, tag);
  uint64_t *next = derivations_next(&comm->derivations, key);
  if (!next) {
    return MPI_ERR_NO_MEM;
  }
  const uint64_t id = team_derive(team_derive(comm->team->id, key, g->world[0]),
                                  *next, g->world[0]);
  struct comm *made = comm_make(comm, id, g, NULL);
  if (!made) {
    return MPI_ERR_NO_MEM;
  }
  ++*next;
  *newcomm = comm_handle(made);
  return MPI_SUCCESS;
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
  code = check_within(g, comm->group);
  if (!code) {
    code = create_group(comm, g, tag, newcomm);
  }
  return comm_error(handle, code, "MPI_Comm_create_group");
}
