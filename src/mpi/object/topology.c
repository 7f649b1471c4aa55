#include "mpi/object/topology.h"

#include "base/need.h"
#include "os/native.h"

#include <string.h>

int topology_neighbors(const struct comm *comm, int *n_in, const int **in,
                       int *n_out, const int **out) {
  const struct topology *t = comm->topology;
  if (!t) {
    return MPI_ERR_TOPOLOGY;
  }
  *n_in = t->n_in;
  *in = t->in;
  *n_out = t->n_out;
  *out = t->out;
  return MPI_SUCCESS;
}

struct topology *topology_of(const struct comm *comm, int kind, bool valid,
                             int *code) {
  *code = !comm || comm_is_inter(comm)                     ? MPI_ERR_COMM
          : !valid                                         ? MPI_ERR_ARG
          : comm->topology && comm->topology->kind == kind ? MPI_SUCCESS
                                                           : MPI_ERR_TOPOLOGY;
  return *code ? NULL : comm->topology;
}

struct topology *topology_new(int kind) {
  struct topology *t = need_zalloc(1, sizeof(*t), "topology");
  t->kind = kind;
  return t;
}

int *topology_copy_ints(const int *from, int n) {
  if (!from || n <= 0) {
    return NULL;
  }
  int *copy = need_alloc(n * sizeof(*copy), "topology");
  memcpy(copy, from, n * sizeof(*copy));
  return copy;
}

struct topology *topology_copy(const struct topology *t) {
  if (!t) {
    return NULL;
  }
  struct topology *copy = need_alloc(sizeof(*copy), "topology");
  *copy = *t;
  copy->dims = topology_copy_ints(t->dims, t->ndims);
  copy->periods = topology_copy_ints(t->periods, t->ndims);
  copy->coords = topology_copy_ints(t->coords, t->ndims);
  copy->index = topology_copy_ints(t->index, t->nodes);
  copy->edges = topology_copy_ints(t->edges, t->n_edges);
  copy->in_weights = topology_copy_ints(t->in_weights, t->n_in);
  copy->out_weights = topology_copy_ints(t->out_weights, t->n_out);
  copy->in = topology_copy_ints(t->in, t->n_in);
  copy->out = t->out == t->in ? copy->in : topology_copy_ints(t->out, t->n_out);
  return copy;
}

void topology_free(struct topology *t) {
  if (!t) {
    return;
  }
  native_free(t->dims);
  native_free(t->periods);
  native_free(t->coords);
  native_free(t->index);
  native_free(t->edges);
  native_free(t->in_weights);
  native_free(t->out_weights);
  if (t->out != t->in) {
    native_free(t->out);
  }
  native_free(t->in);
  native_free(t);
}
