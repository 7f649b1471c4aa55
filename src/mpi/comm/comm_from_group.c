#include "mpi/comm/comm_from_group.h"

#include "mpi/comm/comm_make.h"
#include "mpi/object/comm_info.h"
#include "mpi/object/derivations.h"
#include "mpi_abi/functions.h"

/* No communicator's own calls have keys that begin like that. */
enum { FROM_GROUP = 0x67726f75 };

uint64_t comm_from_group_key(uint64_t seed, const struct group *g,
                             const char *tag) {
  uint64_t key = team_derive(FROM_GROUP, seed, (uint64_t)g->n);
  for (const char *c = tag; *c; c++) {
    key = team_derive(key, (unsigned char)*c, 0);
  }
  for (int i = 0; i < g->n; i++) {
    key = team_derive(key, (uint64_t)i, (uint64_t)g->world[i]);
  }
  return key;
}

uint64_t *comm_from_group_next(uint64_t key) {
  return derivations_next(&rank_me()->world->derivations, key);
}

uint64_t comm_from_group_id(uint64_t key, uint64_t number, int leader) {
  const uint64_t world = rank_me()->world->team->id;
  return team_derive(team_derive(world, key, (uint64_t)leader), number,
                     (uint64_t)leader);
}

#if defined PEMS_MPI_HAS_Comm_create_from_group
/* The call counts where it succeeds: the others' did, so this rank may call
   again. */
static int create(const struct group *g, const char *tag, MPI_Info info,
                  const struct errhandler *errhandler, MPI_Comm *newcomm) {
  const uint64_t key = comm_from_group_key(0, g, tag);
  uint64_t *next = comm_from_group_next(key);
  if (!next) {
    return MPI_ERR_NO_MEM;
  }
  struct comm *made = comm_make(
      rank_me()->world, comm_from_group_id(key, *next, g->world[0]), g, NULL);
  if (!made) {
    return MPI_ERR_NO_MEM;
  }
  errhandler_set(&made->errhandler, *errhandler);
  const int code = comm_info_set(made, info);
  if (code) {
    comm_free(made);
    return code;
  }
  ++*next;
  *newcomm = comm_handle(made);
  return MPI_SUCCESS;
}

/* Errors are told to the handler that the communicator would have. */
int pems_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info,
                                MPI_Errhandler errhandler, MPI_Comm *newcomm) {
  const struct group *g = group_of(group);
  const struct errhandler told = errhandler_make(errhandler);
  MPI_Comm none = MPI_COMM_NULL;
  int code = !g                 ? MPI_ERR_GROUP
             : !tag || !newcomm ? MPI_ERR_ARG
             : !info            ? MPI_ERR_INFO
                                : MPI_SUCCESS;
  if (!code) {
    *newcomm = MPI_COMM_NULL;
    code = g->n && group_rank(g, comm_me()->rank) == MPI_UNDEFINED
               ? MPI_ERR_GROUP
               : MPI_SUCCESS;
  }
  if (!code && g->n) {
    code = create(g, tag, info, &told, newcomm);
  }
  return errhandler_call(&told, &none, code, "MPI_Comm_create_from_group");
}
#endif
