/* Graphs that every rank knows as a whole. */
#include "mpi/comm/comm_make.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/topology.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

static int first_edge(const struct topology *t, int rank) {
  return rank ? t->index[rank - 1] : 0;
}

static int degree(const struct topology *t, int rank) {
  return t->index[rank] - first_edge(t, rank);
}

static int check_graph(int nodes, const int *index, const int *edges) {
  for (int i = 0; i < nodes; i++) {
    if (index[i] < (i ? index[i - 1] : 0)) {
      return MPI_ERR_ARG;
    }
  }
  for (int i = 0; i < index[nodes - 1]; i++) {
    if (edges[i] < 0 || edges[i] >= nodes) {
      return MPI_ERR_ARG;
    }
  }
  return MPI_SUCCESS;
}

static bool graph_fill(struct topology *t, const int *index, const int *edges,
                       int rank) {
  if (!topology_copy_ints(&t->index, index, t->nodes) ||
      !topology_copy_ints(&t->edges, edges, t->n_edges)) {
    return false;
  }
  t->n_in = t->n_out = degree(t, rank);
  const bool copied =
      topology_copy_ints(&t->in, edges + first_edge(t, rank), t->n_in);
  t->out = t->in;
  return copied;
}

/* NULL: out of memory. */
static struct topology *graph_new(int nodes, const int *index, const int *edges,
                                  int rank) {
  struct topology *t = topology_new(MPI_GRAPH);
  if (!t) {
    return NULL;
  }
  t->nodes = nodes;
  t->n_edges = index[nodes - 1];
  if (!graph_fill(t, index, edges, rank)) {
    topology_free(t);
    return NULL;
  }
  return t;
}

int pems_Graph_create(MPI_Comm handle, int nodes, const int index[],
                      const int edges[], int reorder, MPI_Comm *newcomm) {
  (void)reorder;
  struct comm *comm = comm_of(handle);
  int code = !comm || comm_is_inter(comm) ? MPI_ERR_COMM : MPI_SUCCESS;
  if (!code && (nodes < 0 || !newcomm || (nodes && (!index || !edges)) ||
                nodes > comm->peers)) {
    code = MPI_ERR_ARG;
  }
  if (!code && nodes) {
    code = check_graph(nodes, index, edges);
  }
  if (!code) {
    struct topology *t =
        comm->rank < nodes ? graph_new(nodes, index, edges, comm->rank) : NULL;
    struct comm *made;
    code = comm_make_first(comm, nodes, t, &made);
    if (!code) {
      *newcomm = comm_handle(made);
    }
  }
  return comm_error(handle, code, "MPI_Graph_create");
}

int pems_Graph_map(MPI_Comm handle, int nodes, const int index[],
                   const int edges[], int *newrank) {
  const struct comm *comm = comm_of(handle);
  int code = !comm || comm_is_inter(comm) ? MPI_ERR_COMM : MPI_SUCCESS;
  if (!code && (nodes < 1 || !index || !edges || !newrank)) {
    code = MPI_ERR_ARG;
  }
  if (!code && nodes > comm->peers) {
    code = MPI_ERR_ARG;
  }
  if (!code) {
    *newrank = comm->rank < nodes ? comm->rank : MPI_UNDEFINED;
  }
  return comm_error(handle, code, "MPI_Graph_map");
}

int pems_Graphdims_get(MPI_Comm handle, int *nodes, int *edges) {
  int code;
  const struct topology *t =
      topology_of(comm_of(handle), MPI_GRAPH, nodes && edges, &code);
  if (t) {
    *nodes = t->nodes;
    *edges = t->n_edges;
  }
  return comm_error(handle, code, "MPI_Graphdims_get");
}

int pems_Graph_get(MPI_Comm handle, int maxindex, int maxedges, int index[],
                   int edges[]) {
  int code;
  const bool valid = maxindex >= 0 && maxedges >= 0 && index && edges;
  const struct topology *t =
      topology_of(comm_of(handle), MPI_GRAPH, valid, &code);
  for (int i = 0; t && i < maxindex && i < t->nodes; i++) {
    index[i] = t->index[i];
  }
  for (int i = 0; t && i < maxedges && i < t->n_edges; i++) {
    edges[i] = t->edges[i];
  }
  return comm_error(handle, code, "MPI_Graph_get");
}

static const struct topology *node_of(MPI_Comm handle, int rank, bool valid,
                                      int *code) {
  const struct topology *t =
      topology_of(comm_of(handle), MPI_GRAPH, valid, code);
  if (t && (rank < 0 || rank >= t->nodes)) {
    *code = MPI_ERR_RANK;
  }
  return *code ? NULL : t;
}

int pems_Graph_neighbors_count(MPI_Comm handle, int rank, int *n) {
  int code;
  const struct topology *t = node_of(handle, rank, n, &code);
  if (t) {
    *n = degree(t, rank);
  }
  return comm_error(handle, code, "MPI_Graph_neighbors_count");
}

int pems_Graph_neighbors(MPI_Comm handle, int rank, int most, int neighbors[]) {
  int code;
  const bool valid = most == 0 || (most > 0 && neighbors);
  const struct topology *t = node_of(handle, rank, valid, &code);
  for (int i = 0; t && i < most && i < degree(t, rank); i++) {
    neighbors[i] = t->edges[first_edge(t, rank) + i];
  }
  return comm_error(handle, code, "MPI_Graph_neighbors");
}
