/* Graphs of which every rank knows its own edges. */
#include "base/need.h"
#include "mpi/comm/comm_make.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/comm_info.h"
#include "mpi/object/topology.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

static bool is_weighted(const int *weights) {
  return weights != MPI_UNWEIGHTED;
}

/* n neighbours, of a communicator of `size`, and their weights. */
static int check_side(int n, const int *ranks, const int *weights, int size) {
  if (n < 0 || (n > 0 && (!ranks || !weights))) {
    return MPI_ERR_ARG;
  }
  for (int i = 0; i < n; i++) {
    const bool there = ranks[i] >= 0 && ranks[i] < size;
    if ((!there && ranks[i] != MPI_PROC_NULL) ||
        (is_weighted(weights) && weights[i] < 0)) {
      return MPI_ERR_ARG;
    }
  }
  return MPI_SUCCESS;
}

static int check_old(const struct comm *comm, MPI_Info info,
                     const MPI_Comm *newcomm) {
  return !comm || comm_is_inter(comm) ? MPI_ERR_COMM
         : !info                      ? MPI_ERR_INFO
         : !newcomm                   ? MPI_ERR_ARG
                                      : MPI_SUCCESS;
}

static bool copy_side(int **to, int **to_weights, int n, const int *ranks,
                      const int *weights) {
  return topology_copy_ints(to, ranks, n) &&
         (!is_weighted(weights) || topology_copy_ints(to_weights, weights, n));
}

int pems_Dist_graph_create_adjacent(MPI_Comm handle, int indegree,
                                    const int sources[],
                                    const int sourceweights[], int outdegree,
                                    const int destinations[],
                                    const int destweights[], MPI_Info info,
                                    int reorder, MPI_Comm *newcomm) {
  (void)reorder;
  struct comm *comm = comm_of(handle);
  int code = check_old(comm, info, newcomm);
  if (!code) {
    code = check_side(indegree, sources, sourceweights, comm->peers);
  }
  if (!code) {
    code = check_side(outdegree, destinations, destweights, comm->peers);
  }
  if (code) {
    return comm_error(handle, code, "MPI_Dist_graph_create_adjacent");
  }
  struct topology *t = topology_new(MPI_DIST_GRAPH);
  if (t) {
    t->weighted = is_weighted(sourceweights) || is_weighted(destweights);
    t->n_in = indegree;
    t->n_out = outdegree;
    if (!copy_side(&t->in, &t->in_weights, indegree, sources, sourceweights) ||
        !copy_side(&t->out, &t->out_weights, outdegree, destinations,
                   destweights)) {
      topology_free(t);
      t = NULL;
    }
  }
  struct comm *made;
  code = comm_make_first(comm, comm->peers, t, &made);
  if (!code) {
    code = comm_info_set(made, info);
    *newcomm = comm_handle(made);
  }
  return comm_error(handle, code, "MPI_Dist_graph_create_adjacent");
}

/* --- edges that anybody may name --- */

/* What one rank tells another about an edge of that one. */
struct edge {
  int out; /* else in */
  int other, weight;
};
enum { INTS = sizeof(struct edge) / sizeof(int) };

/* Edges to tell and told, by rank: one collective call moves them. The others
   wait for this rank's part of it, so that a shortage ends the job. */
struct mail {
  int n;
  int *counts, *places; /* in ints */
  struct edge *edges;
};

static struct mail mail_make(int size) {
  return (struct mail){
      .counts = need_zalloc(size, sizeof(int), "topology"),
      .places = need_zalloc(size, sizeof(int), "topology"),
  };
}

static void mail_room(struct mail *m, int size) {
  for (int i = 0; i < size; i++) {
    m->places[i] = m->n;
    m->n += m->counts[i];
  }
  m->edges = need_alloc((m->n + 1) * sizeof(int), "topology");
}

static void mail_free(struct mail *m) {
  native_free(m->counts);
  native_free(m->places);
  native_free(m->edges);
}

/* The arguments of MPI_Dist_graph_create. */
struct given {
  int n;
  const int *sources, *degrees, *destinations, *weights;
};

/* Calls put for both ends of every edge. */
static void for_each_end(const struct given *g, struct mail *m,
                         void (*put)(struct mail *m, int to, struct edge e)) {
  int at = 0;
  for (int i = 0; i < g->n; i++) {
    for (int j = 0; j < g->degrees[i]; j++, at++) {
      const int from = g->sources[i], to = g->destinations[at];
      const int weight = is_weighted(g->weights) ? g->weights[at] : 0;
      if (from != MPI_PROC_NULL) {
        put(m, from, (struct edge){1, to, weight});
      }
      if (to != MPI_PROC_NULL) {
        put(m, to, (struct edge){0, from, weight});
      }
    }
  }
}

static void count_end(struct mail *m, int to, struct edge e) {
  (void)e;
  m->counts[to] += INTS;
}

static void put_end(struct mail *m, int to, struct edge e) {
  m->edges[m->places[to] / INTS] = e;
  m->places[to] += INTS;
}

static void take(struct topology *t, const struct mail *told) {
  const int n = told->n / INTS;
  for (int i = 0; i < n; i++) {
    *(told->edges[i].out ? &t->n_out : &t->n_in) += 1;
  }
  const size_t in_n = (t->n_in + 1) * sizeof(int);
  const size_t out_n = (t->n_out + 1) * sizeof(int);
  t->in = need_alloc(in_n, "topology");
  t->out = need_alloc(out_n, "topology");
  t->in_weights = t->weighted ? need_alloc(in_n, "topology") : NULL;
  t->out_weights = t->weighted ? need_alloc(out_n, "topology") : NULL;
  int in = 0, out = 0;
  for (int i = 0; i < n; i++) {
    const struct edge e = told->edges[i];
    const int at = e.out ? out++ : in++;
    (e.out ? t->out : t->in)[at] = e.other;
    if (t->weighted) {
      (e.out ? t->out_weights : t->in_weights)[at] = e.weight;
    }
  }
}

static void put_all(struct mail *m, const struct given *g, int size) {
  for_each_end(g, m, put_end);
  for (int i = 0; i < size; i++) {
    m->places[i] -= m->counts[i];
  }
}

/* On the new communicator, where nobody else calls anything yet. */
static int distribute(struct comm *made, const struct given *given) {
  const MPI_Comm handle = comm_handle(made);
  const int size = made->peers;
  struct mail tell = mail_make(size), told = mail_make(size);
  for_each_end(given, &tell, count_end);
  int code =
      pems_Alltoall(tell.counts, 1, MPI_INT, told.counts, 1, MPI_INT, handle);
  if (!code) {
    mail_room(&tell, size);
    mail_room(&told, size);
    put_all(&tell, given, size);
    code = pems_Alltoallv(tell.edges, counts_of(tell.counts),
                          counts_of(tell.places), MPI_INT, told.edges,
                          counts_of(told.counts), counts_of(told.places),
                          MPI_INT, handle);
  }
  if (!code) {
    take(made->topology, &told);
  }
  mail_free(&tell);
  mail_free(&told);
  return code;
}

static int check_edges(const struct given *g, int size) {
  if (g->n < 0 || (g->n > 0 && (!g->sources || !g->degrees ||
                                !g->destinations || !g->weights))) {
    return MPI_ERR_ARG;
  }
  int edges = 0;
  for (int i = 0; i < g->n; i++) {
    if (g->degrees[i] < 0) {
      return MPI_ERR_ARG;
    }
    edges += g->degrees[i];
  }
  const int code = check_side(g->n, g->sources, MPI_UNWEIGHTED, size);
  return code ? code : check_side(edges, g->destinations, g->weights, size);
}

int pems_Dist_graph_create(MPI_Comm handle, int n, const int sources[],
                           const int degrees[], const int destinations[],
                           const int weights[], MPI_Info info, int reorder,
                           MPI_Comm *newcomm) {
  (void)reorder;
  const struct given given = {n, sources, degrees, destinations, weights};
  struct comm *comm = comm_of(handle);
  int code = check_old(comm, info, newcomm);
  if (!code) {
    code = check_edges(&given, comm->peers);
  }
  if (!code) {
    struct comm *made;
    code =
        comm_make_first(comm, comm->peers, topology_new(MPI_DIST_GRAPH), &made);
    if (!code) {
      made->topology->weighted = is_weighted(weights);
      code = distribute(made, &given);
      code = code ? code : comm_info_set(made, info);
      *newcomm = comm_handle(made);
    }
  }
  return comm_error(handle, code, "MPI_Dist_graph_create");
}

/* --- questions --- */

int pems_Dist_graph_neighbors_count(MPI_Comm handle, int *indegree,
                                    int *outdegree, int *weighted) {
  int code;
  const struct topology *t =
      topology_of(comm_of(handle), MPI_DIST_GRAPH,
                  indegree && outdegree && weighted, &code);
  if (t) {
    *indegree = t->n_in;
    *outdegree = t->n_out;
    *weighted = t->weighted;
  }
  return comm_error(handle, code, "MPI_Dist_graph_neighbors_count");
}

static void give(int most, int n, const int *ranks, const int *weights,
                 int *to_ranks, int *to_weights) {
  for (int i = 0; i < n && i < most; i++) {
    to_ranks[i] = ranks[i];
    if (weights && is_weighted(to_weights)) {
      to_weights[i] = weights[i];
    }
  }
}

int pems_Dist_graph_neighbors(MPI_Comm handle, int maxindegree, int sources[],
                              int sourceweights[], int maxoutdegree,
                              int destinations[], int destweights[]) {
  int code;
  const bool valid = maxindegree >= 0 && maxoutdegree >= 0 &&
                     (!maxindegree || (sources && sourceweights)) &&
                     (!maxoutdegree || (destinations && destweights));
  const struct topology *t =
      topology_of(comm_of(handle), MPI_DIST_GRAPH, valid, &code);
  if (t) {
    give(maxindegree, t->n_in, t->in, t->in_weights, sources, sourceweights);
    give(maxoutdegree, t->n_out, t->out, t->out_weights, destinations,
         destweights);
  }
  return comm_error(handle, code, "MPI_Dist_graph_neighbors");
}
