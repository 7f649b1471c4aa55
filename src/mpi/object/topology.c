#include "mpi/object/topology.h"

#include "os/native.h"

#include <errno.h>
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
  struct topology *t = native_zalloc(1, sizeof(*t));
  if (t) {
    t->kind = kind;
  }
  return t;
}

bool topology_copy_ints(int **to, const int *from, int n) {
  *to = NULL;
  if (!from || n <= 0) {
    return true;
  }
  *to = native_alloc(n * sizeof(**to));
  if (*to) {
    memcpy(*to, from, n * sizeof(**to));
  }
  return *to != NULL;
}

static bool copy_lists(struct topology *copy, const struct topology *t) {
  if (!topology_copy_ints(&copy->dims, t->dims, t->ndims) ||
      !topology_copy_ints(&copy->periods, t->periods, t->ndims) ||
      !topology_copy_ints(&copy->coords, t->coords, t->ndims) ||
      !topology_copy_ints(&copy->index, t->index, t->nodes) ||
      !topology_copy_ints(&copy->edges, t->edges, t->n_edges) ||
      !topology_copy_ints(&copy->in_weights, t->in_weights, t->n_in) ||
      !topology_copy_ints(&copy->out_weights, t->out_weights, t->n_out) ||
      !topology_copy_ints(&copy->in, t->in, t->n_in)) {
    return false;
  }
  if (t->out == t->in) {
    copy->out = copy->in;
    return true;
  }
  return topology_copy_ints(&copy->out, t->out, t->n_out);
}

bool topology_copy(struct topology **to, const struct topology *t) {
  *to = t ? topology_new(t->kind) : NULL;
  if (!*to) {
    return !t;
  }
  struct topology *copy = *to;
  copy->ndims = t->ndims;
  copy->nodes = t->nodes;
  copy->n_edges = t->n_edges;
  copy->weighted = t->weighted;
  copy->n_in = t->n_in;
  copy->n_out = t->n_out;
  if (!copy_lists(copy, t)) {
    topology_free(copy);
    *to = NULL;
  }
  return *to != NULL;
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

/* --- in a checkpoint --- */

void topology_save(const struct topology *t, struct parcel *to) {
  parcel_put_number(to, t != NULL);
  if (!t) {
    return;
  }
  const int sizes[] = {t->kind,     t->ndims, t->nodes, t->n_edges,
                       t->weighted, t->n_in,  t->n_out, t->out == t->in};
  parcel_put(to, sizes, sizeof(sizes));
  parcel_put_ints(to, t->dims, t->ndims);
  parcel_put_ints(to, t->periods, t->ndims);
  parcel_put_ints(to, t->coords, t->ndims);
  parcel_put_ints(to, t->index, t->nodes);
  parcel_put_ints(to, t->edges, t->n_edges);
  parcel_put_ints(to, t->in_weights, t->n_in);
  parcel_put_ints(to, t->out_weights, t->n_out);
  parcel_put_ints(to, t->in, t->n_in);
  parcel_put_ints(to, t->out == t->in ? NULL : t->out, t->n_out);
}

static void load_lists(struct topology *t, struct parcel *from, bool same) {
  t->dims = parcel_ints(from, t->ndims);
  t->periods = parcel_ints(from, t->ndims);
  t->coords = parcel_ints(from, t->ndims);
  t->index = parcel_ints(from, t->nodes);
  t->edges = parcel_ints(from, t->n_edges);
  t->in_weights = parcel_ints(from, t->n_in);
  t->out_weights = parcel_ints(from, t->n_out);
  t->in = parcel_ints(from, t->n_in);
  t->out = parcel_ints(from, t->n_out);
  if (same) {
    t->out = t->in;
  }
}

int topology_load(struct topology **made, struct parcel *from) {
  int sizes[8] = {0};
  *made = NULL;
  if (!parcel_number(from)) {
    return 0;
  }
  struct topology *const t = topology_new(0);
  if (!t) {
    return ENOMEM;
  }
  parcel_get(from, sizes, sizeof(sizes));
  t->kind = sizes[0];
  t->ndims = sizes[1];
  t->nodes = sizes[2];
  t->n_edges = sizes[3];
  t->weighted = sizes[4];
  t->n_in = sizes[5];
  t->n_out = sizes[6];
  load_lists(t, from, sizes[7]);
  *made = t;
  return from->failed ? ENOMEM : 0;
}
