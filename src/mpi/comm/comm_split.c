/* Communicators of those who choose the same colour. */
#include "base/need.h"
#include "mpi/coll/allgather.h"
#include "mpi/coll/call/coll.h"
#include "mpi/comm/comm_directory.h"
#include "mpi/comm/comm_make.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/comm_info.h"
#include "mpi_abi/abi.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/native.h"

#include <stdlib.h>
#include <strings.h>

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

#if MPI_VERSION >= 4
#define RESOURCE "mpi_hw_resource_type"
#if MPI_VERSION > 4 || MPI_SUBVERSION >= 1
#define IS_GUIDED(type)                                                        \
  ((type) == MPI_COMM_TYPE_HW_GUIDED || (type) == MPI_COMM_TYPE_RESOURCE_GUIDED)
#else
#define IS_GUIDED(type) ((type) == MPI_COMM_TYPE_HW_GUIDED)
#endif

/* What ranks of a process share. */
static const char *const resources[] = {"mpi_shared_memory",
                                        "machine",
                                        "node",
                                        "package",
                                        "socket",
                                        "numanode",
                                        "numa",
                                        "l3cache",
                                        "l2cache",
                                        "l1cache",
                                        "core",
                                        "hwthread",
                                        "pu"};

/* Another value counts as none. */
static bool names_resource(MPI_Info info) {
  char value[32] = "";
  int found = 0;
  if (info == MPI_INFO_NULL ||
      real.Info_get(info, RESOURCE, sizeof(value) - 1, value, &found) ||
      !found) {
    return false;
  }
  for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
    if (strcasecmp(value, resources[i]) == 0) {
      return true;
    }
  }
  return false;
}

/* Types that hints guide are nowhere without them; the one that none guides
   makes several parts, and says what they are, or none. */
static bool is_nowhere(const struct comm *comm, int type, MPI_Info info) {
  if (IS_GUIDED(type)) {
    return !names_resource(info);
  }
  return type == MPI_COMM_TYPE_HW_UNGUIDED && comm->team->nprocs == 1;
}

static int say_resource(int type, MPI_Info info) {
  return type == MPI_COMM_TYPE_HW_UNGUIDED && info != MPI_INFO_NULL
             ? real.Info_set(info, RESOURCE, "mpi_shared_memory")
             : MPI_SUCCESS;
}
#else
static bool is_nowhere(const struct comm *comm, int type, MPI_Info info) {
  (void)comm, (void)type, (void)info;
  return false;
}

static int say_resource(int type, MPI_Info info) {
  (void)type, (void)info;
  return MPI_SUCCESS;
}
#endif

/* VPs share memory with those of their process, whatever core they are on: all
   of the MPI's types of places are one. */
static int place_of(const struct comm *comm, int type, MPI_Info info) {
  return type == MPI_UNDEFINED || is_nowhere(comm, type, info)
             ? MPI_UNDEFINED
             : comm->team->proc[comm->peer];
}

#ifdef MPIX_COMM_TYPE_NEIGHBORHOOD
#define IS_NEIGHBORHOOD(type) ((type) == MPIX_COMM_TYPE_NEIGHBORHOOD)
#else
#define IS_NEIGHBORHOOD(type) false
#endif

/* Those who have asked for it, then those of them who share a directory. Other
   hints for that type are about networks of which nothing is known. */
static int split_neighborhood(struct comm *comm, int key, MPI_Info info,
                              const char *function, struct comm **made) {
  struct comm *asked = NULL;
  int place = MPI_UNDEFINED;
  int code = comm_is_inter(comm)
                 ? MPI_ERR_COMM
                 : split(comm, (struct choice){0, key}, function, &asked);
  if (!code) {
    code = comm_directory_place(asked, info, &place);
  }
  if (!code) {
    code = split(asked, (struct choice){place, 0}, function, made);
  }
  if (asked) {
    comm_free(asked);
  }
  return code;
}

int pems_Comm_split_type(MPI_Comm handle, int type, int key, MPI_Info info,
                         MPI_Comm *newcomm) {
  static const char name[] = "MPI_Comm_split_type";
  struct comm *comm = comm_of(handle), *made = NULL;
  int code = !comm ? MPI_ERR_COMM : !info ? MPI_ERR_INFO : MPI_SUCCESS;
  const bool known = abi_is_comm_type(type);
  if (!code && (!newcomm || (!known && type != MPI_UNDEFINED))) {
    code = MPI_ERR_ARG;
  }
  if (!code && IS_NEIGHBORHOOD(type)) {
    code = split_neighborhood(comm, key, info, name, &made);
  } else if (!code) {
    const int place = place_of(comm, type, info);
    code = split(comm, (struct choice){place, key}, name, &made);
  }
  if (!code && made) {
    code = say_resource(type, info);
  }
  if (!code && made) {
    code = comm_info_set(made, info);
  }
  if (!code) {
    *newcomm = comm_handle(made);
  }
  return comm_error(handle, code, name);
}
