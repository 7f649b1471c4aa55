/* Groups: ordered sets of ranks of MPI_COMM_WORLD. Immutable, and shared by
   those who hold them. */
#ifndef PEMS_MPI_OBJECT_GROUP_H
#define PEMS_MPI_OBJECT_GROUP_H

#include "checkpoint/parcel.h"
#include "mpi_abi/abi.h"
#include "mpi_abi/handle.h"

#include <mpi.h>
#include <stdatomic.h>

struct rank;

struct group {
  struct handle handle;
  atomic_int holders;
  int n;
  int world[]; /* by rank in the group: rank in MPI_COMM_WORLD */
};

/* Copies n ranks; `world` NULL: 0 .. n - 1. Held once. NULL, here and in
   group_row, group_incl: out of memory. */
struct group *group_new(const int *world, int n);
/* n ranks of MPI_COMM_WORLD in a row, from `first` on. */
struct group *group_row(int first, int n);
/* The members of g that are named by their ranks there, in that order. */
struct group *group_incl(const struct group *g, const int *ranks, int n);
struct group *group_hold(struct group *g);
/* Gives the program a handle: of g, or, where handles are each rank's own, of a
   copy, for others may have handles of g. An error class. */
int group_give(struct group *g, MPI_Group *handle);
void group_release(struct group *g); /* NULL is allowed */

/* The rank in g of a rank of MPI_COMM_WORLD, or MPI_UNDEFINED. */
int group_rank(const struct group *g, int world);
/* The same for all: by rank in MPI_COMM_WORLD, or -1. The caller frees it by
   native_free. NULL: out of memory. */
int *group_places(const struct group *g);
/* Sets `result` to MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL. An error class. */
int group_compare(const struct group *a, const struct group *b, int *result);

/* Those that the rank's program has handles of, in a checkpoint. The second one
   returns an errno value, or 0. */
void groups_save(const struct rank *rank, struct parcel *to);
int groups_load(struct rank *rank, struct parcel *from);

/* NULL for what is no group. MPI_GROUP_EMPTY is one of pems's own. */
struct group *group_of(MPI_Group handle);
/* MPI_GROUP_EMPTY for every one without members. */
MPI_Group group_handle(struct group *g);

#endif
