/* Graph topologies, whole and distributed. */
#include "test.h"

#include <stdbool.h>

#pragma GCC diagnostic ignored "-Wstringop-overread" /* MPI_WEIGHTS_EMPTY */

/* Not there under mpirun. */
extern int pems_main(int argc, char **argv, char **envp) __attribute__((weak));

enum { MOST = 64, EDGES = 4 * MOST };

static uint64_t state = 23;

static int kind_of(MPI_Comm comm) {
  int kind;
  MPI_Topo_test(comm, &kind);
  return kind;
}

/* Random edges; the same on all ranks. */
static int random_graph(int nodes, int *index, int *edges) {
  int n = 0;
  for (int i = 0; i < nodes; i++) {
    for (int d = (int)pick(&state, 4); d > 0; d--) {
      edges[n++] = (int)pick(&state, (unsigned)nodes);
    }
    index[i] = n;
  }
  return n;
}

static void check_graph(MPI_Comm graph, int nodes, const int *index,
                        const int *edges) {
  int n, n_edges, got_index[MOST + 1], got_edges[EDGES + 1];
  MPI_Graphdims_get(graph, &n, &n_edges);
  if (n != nodes || n_edges != index[nodes - 1]) {
    fail("graph of %d nodes and %d edges", n, n_edges);
  }
  MPI_Graph_get(graph, n, n_edges, got_index, got_edges);
  if (memcmp(got_index, index, (size_t)n * sizeof(*index)) != 0 ||
      memcmp(got_edges, edges, (size_t)n_edges * sizeof(*edges)) != 0) {
    fail("MPI_Graph_get");
  }
  for (int i = 0; i < nodes; i++) {
    int first = i ? index[i - 1] : 0, count, near[EDGES + 1];
    MPI_Graph_neighbors_count(graph, i, &count);
    if (count != index[i] - first) {
      fail("node %d has %d neighbours", i, count);
    }
    MPI_Graph_neighbors(graph, i, count, near);
    if (memcmp(near, edges + first, (size_t)count * sizeof(*near)) != 0) {
      fail("neighbours of node %d", i);
    }
  }
}

static void graphs(void) {
  for (int nodes = size; nodes > 0; nodes -= 2) {
    int index[MOST], edges[EDGES], n, mapped, ranks;
    MPI_Comm graph, dup;
    n = random_graph(nodes, index, edges);
    MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 0, &graph);
    if ((graph == MPI_COMM_NULL) != (rank >= nodes)) {
      fail("who is in a graph of %d", nodes);
    }
    if (graph == MPI_COMM_NULL) {
      continue;
    }
    MPI_Comm_size(graph, &ranks);
    if (ranks != nodes || kind_of(graph) != MPI_GRAPH) {
      fail("graph of %d ranks", ranks);
    }
    check_graph(graph, nodes, index, edges);
    MPI_Comm_dup(graph, &dup);
    MPI_Graph_map(graph, (nodes + 1) / 2, index, edges, &mapped);
    MPI_Comm_free(&graph);
    check_graph(dup, nodes, index, edges);
    MPI_Comm_free(&dup);
    mix_number((uint64_t)mapped);
    mix_number((uint64_t)n);
  }
  MPI_Comm none;
  MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &none);
  if (none != MPI_COMM_NULL) {
    fail("a graph without nodes");
  }
  report("graphs");
}

/* Neighbours of a distributed graph, with weights. */
struct near {
  int in, out, weighted;
  int from[EDGES], from_weight[EDGES], to[EDGES], to_weight[EDGES];
};

static struct near neighbors_of(MPI_Comm graph) {
  static struct near near;
  memset(&near, 0, sizeof(near));
  MPI_Dist_graph_neighbors_count(graph, &near.in, &near.out, &near.weighted);
  MPI_Dist_graph_neighbors(graph, near.in, near.from, near.from_weight,
                           near.out, near.to, near.to_weight);
  if (kind_of(graph) != MPI_DIST_GRAPH) {
    fail("MPI_Topo_test of a distributed graph");
  }
  return near;
}

/* Every edge is in the right places: what is known of all is summed. */
static uint64_t hash(int from, int to, int weight) {
  return seed_of((uint64_t)weight, from, to) % 1000003;
}

static void expect_sum(uint64_t mine, uint64_t expected, const char *what) {
  uint64_t sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (sum != expected) {
    fail("%s", what);
  }
}

/* All edges of a random graph, given by ranks that need not be their ends. */
static void distributed(int weighted, bool dup_it) {
  static int source[EDGES], to[EDGES], weight[EDGES];
  int n = 0, edges = (int)pick(&state, (unsigned)(3 * size)), ones[EDGES];
  uint64_t expected = 0, in = 0, out = 0;
  MPI_Comm graph, dup;
  for (int i = 0; i < edges; i++) {
    int from = (int)pick(&state, (unsigned)size);
    int where = (int)pick(&state, (unsigned)size);
    int heavy = (int)pick(&state, 100);
    expected += hash(from, where, weighted ? heavy : 0);
    if ((int)pick(&state, (unsigned)size) == rank) {
      source[n] = from, to[n] = where, weight[n] = heavy, ones[n] = 1;
      n++;
    }
  }
  MPI_Dist_graph_create(MPI_COMM_WORLD, n, source, ones, to,
                        weighted ? (n ? weight : MPI_WEIGHTS_EMPTY)
                                 : MPI_UNWEIGHTED,
                        MPI_INFO_NULL, 0, &graph);
  if (dup_it) {
    MPI_Comm_dup(graph, &dup);
    MPI_Comm_free(&graph);
    graph = dup;
  }
  struct near near = neighbors_of(graph);
  if (!near.weighted != !weighted) {
    fail("weighted: %d", near.weighted);
  }
  for (int i = 0; i < near.in; i++) {
    in += hash(near.from[i], rank, near.from_weight[i]);
  }
  for (int i = 0; i < near.out; i++) {
    out += hash(rank, near.to[i], near.to_weight[i]);
  }
  expect_sum(in, expected, "edges by their ends");
  expect_sum(out, expected, "edges by their beginnings");
  MPI_Comm_free(&graph);
}

/* A ring with everybody's left and right, and nothing at all. */
static void adjacent(void) {
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
  int from[3] = {left, right, MPI_PROC_NULL}, to[2] = {right, left};
  int from_weight[3] = {1, 2, 3}, to_weight[2] = {left + 1, right + 1};
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, from, from_weight, 2, to,
                                 to_weight, MPI_INFO_NULL, 0, &graph);
  struct near near = neighbors_of(graph);
  if (near.in != 3 || near.out != 2 || !near.weighted) {
    fail("adjacent: %d and %d", near.in, near.out);
  }
  mix(near.from, sizeof(from));
  mix(near.to, sizeof(to));
  mix(near.from_weight, sizeof(from_weight));
  mix(near.to_weight, sizeof(to_weight));
  MPI_Comm_free(&graph);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0,
                                 NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
                                 &graph);
  near = neighbors_of(graph);
  mix_number((uint64_t)(near.in + near.out + 10 * near.weighted));
  MPI_Comm_free(&graph);
  report("adjacent");
}

static void class_of(int code, const char *what) {
  int class;
  MPI_Error_class(code, &class);
  printf("rank %d: %s: class %d\n", rank, what, class);
}

static void errors(void) {
  int one[1] = {1}, zero[1] = {0}, bad[1] = {size}, below[1] = {-1}, n;
  MPI_Comm graph;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const MPI_Comm self = MPI_COMM_SELF;
  class_of(MPI_Graph_create(MPI_COMM_NULL, 1, one, zero, 0, &graph), "null");
  class_of(MPI_Graph_create(self, -1, one, zero, 0, &graph), "-1 nodes");
  class_of(MPI_Graph_create(self, 2, one, zero, 0, &graph), "too many nodes");
  class_of(MPI_Graph_create(self, 1, NULL, zero, 0, &graph), "no index");
  class_of(MPI_Graphdims_get(self, &n, &n), "no graph");
  class_of(MPI_Graph_neighbors_count(self, 0, &n), "count, no graph");
  class_of(MPI_Dist_graph_neighbors_count(self, &n, &n, &n), "no dist graph");
  class_of(MPI_Dist_graph_create_adjacent(self, 1, bad, one, 0, zero, one,
                                          MPI_INFO_NULL, 0, &graph),
           "no such source");
  class_of(MPI_Dist_graph_create_adjacent(self, 1, zero, below, 0, zero, one,
                                          MPI_INFO_NULL, 0, &graph),
           "weight -1");
  class_of(MPI_Dist_graph_create_adjacent(self, -1, zero, one, 0, zero, one,
                                          MPI_INFO_NULL, 0, &graph),
           "degree -1");
  class_of(MPI_Dist_graph_create(self, 1, bad, one, zero, one, MPI_INFO_NULL, 0,
                                 &graph),
           "create: no such source");
  class_of(MPI_Dist_graph_create(self, 1, zero, below, zero, one, MPI_INFO_NULL,
                                 0, &graph),
           "create: degree -1");
  MPI_Graph_create(self, 1, one, zero, 0, &graph);
  class_of(MPI_Graph_neighbors_count(graph, 7, &n), "no such node");
  class_of(MPI_Graph_neighbors(graph, 0, -1, &n), "room -1");
  class_of(MPI_Cartdim_get(graph, &n), "no grid");
  MPI_Comm_free(&graph);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  graphs();
  /* MPI_Dist_graph_create of Open MPI 4.1.4 hangs now and then. */
  for (int i = 0; i < 20 && pems_main; i++) {
    distributed(i % 2, i % 3 == 0);
  }
  adjacent();
  if (ERRORS_COMPARE) {
    errors();
  }
  return end();
}
