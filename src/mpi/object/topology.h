/* Process topologies: what a communicator says about who talks to whom.
   Immutable; native memory of the rank's handle. */
#ifndef PEMS_MPI_OBJECT_TOPOLOGY_H
#define PEMS_MPI_OBJECT_TOPOLOGY_H

#include "checkpoint/parcel.h"
#include "mpi/object/comm.h"

#include <stdbool.h>

struct topology {
  int kind; /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */

  /* MPI_CART: */
  int ndims;
  int *dims, *periods, *coords; /* coords: of the rank itself */

  /* MPI_GRAPH, as given to MPI_Graph_create: */
  int nodes, n_edges;
  int *index, *edges;

  /* MPI_DIST_GRAPH; a direction may be without weights (NULL): */
  bool weighted;
  int *in_weights, *out_weights;

  /* All: the neighbours of the rank, in the order of the neighbourhood
     collectives. A message for each is expected and sent. */
  int n_in, n_out;
  int *in, *out; /* ranks, or MPI_PROC_NULL; one array where both are equal */
};

/* The neighbours of comm's rank: from whom it receives and to whom it sends in
   neighbourhood collectives. Valid as long as comm. MPI_ERR_TOPOLOGY if comm
   has none. */
int topology_neighbors(const struct comm *comm, int *n_in, const int **in,
                       int *n_out, const int **out);

/* The topology of a communicator if it is of that kind, else NULL. `code` says
   what is wrong: with the handle, with `valid` (MPI_ERR_ARG), or the kind. */
struct topology *topology_of(const struct comm *comm, int kind, bool valid,
                             int *code);
/* An empty one. NULL: out of memory. */
struct topology *topology_new(int kind);
/* Sets *to to a copy of n numbers in native memory; NULL for n <= 0. False: out
   of memory. */
bool topology_copy_ints(int **to, const int *from, int n);
/* Sets *to to an equal one, for another handle; NULL for NULL. False: out of
   memory. */
bool topology_copy(struct topology **to, const struct topology *t);
/* In a checkpoint: NULL, too. The second one returns an errno value, or 0. */
void topology_save(const struct topology *t, struct parcel *to);
int topology_load(struct topology **t, struct parcel *from);
/* NULL is allowed. */
void topology_free(struct topology *t);

#endif
