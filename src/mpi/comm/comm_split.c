/* Communicators of those who choose the same colour. */
#include "base/need.h"
#include "mpi/coll/allgather.h"
#include "mpi/coll/call/coll.h"
#include "mpi/comm/comm_make.h"
#include "mpi/object/comm_info.h"
#include "mpi_abi/abi.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

#include <stdlib.h>

struct choice {
  int color, key;
};

/* One of those who made the same choice. */
struct chosen {
  int key, rank;
};

static int compare(const void *a, const void *b) {
  const struct chosen *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                          : (x->rank > y->rank) - (x->rank < y->rank);
}

/* The ranks of g that chose the colour, by key, then rank. All have chosen
   already: a shortage ends the job. */
static struct group *group_of_color(const struct group *g,
                                    const struct choice *choices, int color) {
  struct chosen *chosen = need_alloc((g->n + 1) * sizeof(*chosen), "split");
  int *ranks = need_alloc((g->n + 1) * sizeof(*ranks), "split");
  int n = 0;
  for (int i = 0; i < g->n; i++) {
    if (choices[i].color == color) {
      chosen[n++] = (struct chosen){choices[i].key, i};
    }
  }
  qsort(chosen, n, sizeof(*chosen), compare);
  for (int i = 0; i < n; i++) {
    ranks[i] = chosen[i].rank;
  }
  struct group *made = comm_group_needed(group_incl(g, ranks, n));
  native_free(ranks);
  native_free(chosen);
  return made;
}

/* Of the addressed group g of `on`: those with the colour. NULL: an error. */
static struct group *gather(struct comm *on, const struct group *g,
                            struct choice mine, const char *function,
                            int *code) {
  /* The others wait for what this rank chooses. */
  struct choice *all = need_alloc(g->n * sizeof(*all), "split");
  *code = coll_allgather(on, function, &mine, sizeof(mine), all);
  struct group *same = *code ? NULL : group_of_color(g, all, mine.color);
  native_free(all);
  return same;
}

static int split(struct comm *comm, struct choice mine, const char *function,
                 struct comm **made) {
  const uint64_t number = comm->collectives;
  struct comm *local = comm_is_inter(comm) ? comm->local : comm;
  int code;
  struct group *remote = NULL;
  struct group *own = gather(local, comm->group, mine, function, &code);
  if (!code && comm_is_inter(comm)) {
    remote = gather(comm, comm->remote, mine, function, &code);
  }
  /* An inter-communicator needs members on both sides. */
  if (!code && mine.color != MPI_UNDEFINED && (!remote || remote->n)) {
    *made = comm_make_agreed(comm, number, own, remote);
  }
  group_release(own);
  group_release(remote);
  return code;
}

int pems_Comm_split(MPI_Comm handle, int color, int key, MPI_Comm *newcomm) {
  struct comm *comm = comm_of(handle), *made = NULL;
  int code = comm ? MPI_SUCCESS : MPI_ERR_COMM;
  if (!code && (!newcomm || (color < 0 && color != MPI_UNDEFINED))) {
    code = MPI_ERR_ARG;
  }
  if (!code) {
    code = split(comm, (struct choice){color, key}, "MPI_Comm_split", &made);
  }
  if (!code) {
    *newcomm = comm_handle(made);
  }
  return comm_error(handle, code, "MPI_Comm_split");
}

/* VPs share memory with those of their process, whatever core they are on: all
   of the MPI's types of places are one. Types of MPI 4 that hints guide are
   nowhere without hints. */
static int place_of(const struct comm *comm, int type, MPI_Info info) {
  bool nowhere = type == MPI_UNDEFINED;
#if MPI_VERSION >= 4
  nowhere |= type == MPI_COMM_TYPE_HW_GUIDED && info == MPI_INFO_NULL;
#else
  (void)info;
#endif
  return nowhere ? MPI_UNDEFINED : comm->team->proc[comm->peer];
}

int pems_Comm_split_type(MPI_Comm handle, int type, int key, MPI_Info info,
                         MPI_Comm *newcomm) {
  struct comm *comm = comm_of(handle), *made = NULL;
  int code = !comm ? MPI_ERR_COMM : !info ? MPI_ERR_INFO : MPI_SUCCESS;
  const bool known = abi_is_comm_type(type);
  if (!code && (!newcomm || (!known && type != MPI_UNDEFINED))) {
    code = MPI_ERR_ARG;
  }
  if (!code) {
    const int place = place_of(comm, type, info);
    code =
        split(comm, (struct choice){place, key}, "MPI_Comm_split_type", &made);
  }
  if (!code && made) {
    code = comm_info_set(made, info);
  }
  if (!code) {
    *newcomm = comm_handle(made);
  }
  return comm_error(handle, code, "MPI_Comm_split_type");
}
