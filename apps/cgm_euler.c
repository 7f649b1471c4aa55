/* Euler tours of a forest, and depths and sizes from them, with <pems/cgm.h>.

     pemscc -O2 -o cgm_euler cgm_euler.c
     pemsrun -n 64 ./cgm_euler 10000 --make forest
     pemsrun -n 16 ./cgm_euler 0 --file edges --span

   or, without pems, mpicc ... $(pkg-config --cflags --libs pems-cgm), and
   mpirun. `forest` are N trees of N nodes, as in section 8.4.3 of PEMS2's
   thesis. --span: of any graph, a spanning forest of it. --lca Q: lowest common
   ancestors of Q pairs. --check: on rank 0, which needs memory for all nodes.
 */
#include "cgm_graph.h"

#include <stdbool.h>

#define USAGE "N " CGM_GRAPH_USAGE " [--span] [--lca Q] [--check]"

struct summary {
  uint64_t trees, leaves, depths; /* sums */
  uint64_t depth, largest;        /* most */
};

static struct summary summarize(const struct cgm_graph *g,
                                const struct pems_cgm_list *tree) {
  enum { SUMS = 3, MOSTS = 2 };
  const struct pems_cgm_node *const node = tree->at;
  struct summary s = {0}, all;
  for (uint64_t i = 0; i < tree->n; i++) {
    s.trees += node[i].parent == PEMS_CGM_NONE;
    s.leaves += node[i].size == 1;
    s.depths += node[i].depth;
    s.depth = node[i].depth > s.depth ? node[i].depth : s.depth;
    s.largest = node[i].size > s.largest ? node[i].size : s.largest;
  }
  MPI_Allreduce(&s, &all, SUMS, MPI_UINT64_T, MPI_SUM,
                pems_cgm_comm(g->machine));
  MPI_Allreduce(&s.depth, &all.depth, MOSTS, MPI_UINT64_T, MPI_MAX,
                pems_cgm_comm(g->machine));
  return all;
}

/* --- on rank 0 --- */

static uint64_t edge_sum(const struct pems_cgm_list *edges) {
  const struct pems_cgm_edge *const edge = edges->at;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < edges->n; i++) {
    sum += cgm_mix(edge[i].u) * cgm_mix(edge[i].v);
  }
  return sum;
}

/* Nodes lie within their parents; every node has as many below it as they have;
   links to parents are the edges. */
static bool is_right(const struct pems_cgm_node *node, uint64_t n,
                     uint64_t edges) {
  const struct pems_cgm_list list = cgm_list(n, sizeof(uint64_t));
  uint64_t *const size = list.at, sum = 0;
  bool good = true;
  for (uint64_t i = 0; i < n; i++) {
    size[i] = 1;
  }
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t up = node[i].parent;
    if (up == PEMS_CGM_NONE) {
      good &= node[i].root == i && node[i].depth == 0 && node[i].preorder == 0;
    } else {
      good &=
          up < n && node[up].root == node[i].root &&
          node[up].depth + 1 == node[i].depth && node[i].root <= i &&
          node[up].preorder < node[i].preorder &&
          node[i].preorder + node[i].size <= node[up].preorder + node[up].size;
      size[up] += node[i].size;
      sum += cgm_mix(i) * cgm_mix(up);
    }
  }
  for (uint64_t i = 0; i < n; i++) {
    good &= size[i] == node[i].size;
  }
  free(size);
  return good && sum == edges;
}

static uint64_t climb(const struct pems_cgm_node *node, uint64_t u,
                      uint64_t v) {
  while (u != v && u != PEMS_CGM_NONE && v != PEMS_CGM_NONE) {
    if (node[u].depth < node[v].depth) {
      v = node[v].parent;
    } else {
      u = node[u].parent;
    }
  }
  return u == v ? u : PEMS_CGM_NONE;
}

/* Frees all lists. */
static int check(const struct cgm_graph *g, uint64_t edges,
                 struct pems_cgm_list *tree, struct pems_cgm_list *queries,
                 struct pems_cgm_list *answers) {
  int good = 1;
  pems_cgm_all_to_one_gather(g->machine, 0, tree);
  pems_cgm_all_to_one_gather(g->machine, 0, queries);
  pems_cgm_all_to_one_gather(g->machine, 0, answers);
  if (pems_cgm_rank(g->machine) == 0) {
    const struct pems_cgm_edge *const query = queries->at;
    const uint64_t *const answer = answers->at;
    good = is_right(tree->at, g->nodes, edges);
    for (uint64_t i = 0; i < queries->n; i++) {
      good = good && climb(tree->at, query[i].u, query[i].v) == answer[i];
    }
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, pems_cgm_comm(g->machine));
  return good;
}

/* --- the program --- */

static void span(struct cgm_graph *g) {
  struct pems_cgm_list components, forest;
  pems_cgm_components(g->machine, g->nodes, &g->edges, &components, &forest);
  pems_cgm_list_free(&components);
  pems_cgm_list_free(&g->edges);
  g->edges = forest;
}

static struct pems_cgm_list make_queries(const struct cgm_graph *g,
                                         uint64_t all) {
  const int rank = pems_cgm_rank(g->machine);
  const uint64_t first = pems_cgm_first(g->machine, all, rank);
  struct pems_cgm_list queries =
      cgm_list(pems_cgm_first(g->machine, all, rank + 1) - first,
               sizeof(struct pems_cgm_edge));
  struct pems_cgm_edge *const query = queries.at;
  for (uint64_t i = 0; i < queries.n; i++) {
    query[i] = (struct pems_cgm_edge){cgm_mix(2 * (first + i)) % g->nodes,
                                      cgm_mix(2 * (first + i) + 1) % g->nodes};
  }
  return queries;
}

int main(int argc, char **argv) {
  struct cgm_graph g = {.make = "forest"};
  uint64_t asked = 0, edges = 0, sum = 0;
  int spanned = 0, checked = 0, good = 1;
  const struct cgm_option options[] = {CGM_GRAPH_OPTIONS(&g),
                                       {"--span", NULL, NULL, &spanned},
                                       {"--lca", &asked, NULL, NULL},
                                       {"--check", NULL, NULL, &checked},
                                       {0}};
  struct pems_cgm_list arcs, tree, queries, answers = {.size = 8};
  struct pems_cgm_counts counts;

  MPI_Init(&argc, &argv);
  cgm_arguments(argc, argv, USAGE, &g.n, options);
  pems_cgm_open(&g.machine, MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  cgm_graph_open(&g);
  if (spanned) {
    span(&g);
  }
  if (checked) {
    edges = edge_sum(&g.edges);
  }
  const double made = MPI_Wtime();
  pems_cgm_euler_tour(g.machine, g.nodes, &g.edges, &arcs);
  const double toured = MPI_Wtime();
  pems_cgm_get_counts(g.machine, &counts);
  pems_cgm_tree(g.machine, g.nodes, &arcs, &tree);
  pems_cgm_list_free(&arcs);
  const double rooted = MPI_Wtime();
  queries = make_queries(&g, g.nodes > 0 ? asked : 0);
  if (asked > 0) {
    pems_cgm_lca(g.machine, g.nodes, &tree, &queries, &answers);
  }
  const double answered = MPI_Wtime();
  const struct summary s = summarize(&g, &tree);
  MPI_Allreduce(&edges, &sum, 1, MPI_UINT64_T, MPI_SUM,
                pems_cgm_comm(g.machine));
  if (checked) {
    good = check(&g, sum, &tree, &queries, &answers);
  }
  if (pems_cgm_rank(g.machine) == 0) {
    printf("RESULT app=cgm_euler nodes=%" PRIu64 " edges=%" PRIu64
           " ranks=%d trees=%" PRIu64 " leaves=%" PRIu64 " depth=%" PRIu64
           " depths=%" PRIu64 " largest=%" PRIu64
           " right=%s supersteps=%" PRIu64 " bytes_sent=%" PRIu64
           " make=%.3f seconds=%.3f tree=%.3f lca=%.3f\n",
           g.nodes, g.all_edges, pems_cgm_size(g.machine), s.trees, s.leaves,
           s.depth, s.depths, s.largest,
           !checked ? "unknown"
           : good   ? "1"
                    : "0",
           counts.supersteps, counts.bytes, made - start, toured - made,
           rooted - toured, answered - rooted);
  }
  pems_cgm_list_free(&tree);
  pems_cgm_list_free(&queries);
  pems_cgm_list_free(&answers);
  pems_cgm_close(g.machine);
  MPI_Finalize();
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
