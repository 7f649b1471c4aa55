/* Connected components of a graph, with <pems/cgm.h>.

     pemscc -O2 -o cgm_components cgm_components.c
     pemsrun -n 64 ./cgm_components 100000000 --make random
     pemsrun -n 16 ./cgm_components 0 --file edges

   or, without pems, mpicc ... $(pkg-config --cflags --libs pems-cgm), and
   mpirun. N is the number of nodes; for a file at least that of its largest
   node and one. --bipartite: are there two sides? --check: on rank 0, which
   needs memory for all of it. */
#include "cgm_graph.h"

#include <stdbool.h>

#define USAGE "N " CGM_GRAPH_USAGE " [--bipartite] [--check]"

/* Of the components. */
struct summary {
  uint64_t components, alone, largest;
};

static uint64_t own_component(void *arg, const void *component) {
  (void)arg;
  return *(const uint64_t *)component;
}

static struct summary summarize(const struct cgm_graph *g,
                                const struct pems_cgm_list *components) {
  struct pems_cgm_list sizes = {0};
  struct summary s = {0}, all;
  pems_cgm_histogram(g->machine, components, g->nodes, own_component, NULL,
                     &sizes);
  const uint64_t *const size = sizes.at;
  for (uint64_t i = 0; i < sizes.n; i++) {
    s.components += size[i] > 0;
    s.alone += size[i] == 1;
    s.largest = size[i] > s.largest ? size[i] : s.largest;
  }
  pems_cgm_list_free(&sizes);
  MPI_Allreduce(&s, &all, 2, MPI_UINT64_T, MPI_SUM, pems_cgm_comm(g->machine));
  MPI_Allreduce(&s.largest, &all.largest, 1, MPI_UINT64_T, MPI_MAX,
                pems_cgm_comm(g->machine));
  return all;
}

/* --- on rank 0 --- */

static uint64_t root_of(uint64_t *root, uint64_t i) {
  while (root[i] != i) {
    root[i] = root[root[i]];
    i = root[i];
  }
  return i;
}

/* Joins the edges' nodes; returns how many did more than that. */
static uint64_t join(uint64_t *root, const struct pems_cgm_list *edges) {
  const struct pems_cgm_edge *const edge = edges->at;
  uint64_t joined = 0;
  for (uint64_t i = 0; i < edges->n; i++) {
    const uint64_t a = root_of(root, edge[i].u), b = root_of(root, edge[i].v);
    root[a > b ? a : b] = a > b ? b : a;
    joined += a != b;
  }
  return joined;
}

static int same(const struct cgm_graph *g, const struct pems_cgm_list *edges,
                const uint64_t *component, uint64_t *joined) {
  const struct pems_cgm_list list = cgm_list(g->nodes, sizeof(uint64_t));
  uint64_t *const root = list.at;
  bool good = true;
  for (uint64_t i = 0; i < g->nodes; i++) {
    root[i] = i;
  }
  *joined = join(root, edges);
  for (uint64_t i = 0; i < g->nodes; i++) {
    good &= root_of(root, i) == component[i];
  }
  free(root);
  return good;
}

/* The graph's components are right, and the forest's are the same, with not an
   edge more than is needed. All lists are freed. */
static int check(struct cgm_graph *g, struct pems_cgm_list *components,
                 struct pems_cgm_list *forest) {
  int good = 1;
  uint64_t joined;
  pems_cgm_all_to_one_gather(g->machine, 0, &g->edges);
  pems_cgm_all_to_one_gather(g->machine, 0, components);
  pems_cgm_all_to_one_gather(g->machine, 0, forest);
  if (pems_cgm_rank(g->machine) == 0) {
    good = same(g, &g->edges, components->at, &joined) && joined == forest->n;
    good =
        good && same(g, forest, components->at, &joined) && joined == forest->n;
  }
  pems_cgm_list_free(&g->edges);
  pems_cgm_list_free(components);
  pems_cgm_list_free(forest);
  MPI_Bcast(&good, 1, MPI_INT, 0, pems_cgm_comm(g->machine));
  return good;
}

int main(int argc, char **argv) {
  struct cgm_graph g = {.make = "random"};
  int bipartite = 0, checked = 0, sides = -1, good = 1;
  const struct cgm_option options[] = {CGM_GRAPH_OPTIONS(&g),
                                       {"--bipartite", NULL, NULL, &bipartite},
                                       {"--check", NULL, NULL, &checked},
                                       {0}};
  struct pems_cgm_list components, forest;
  struct pems_cgm_counts counts;

  MPI_Init(&argc, &argv);
  cgm_arguments(argc, argv, USAGE, &g.n, options);
  pems_cgm_open(&g.machine, MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  cgm_graph_open(&g);
  const double made = MPI_Wtime();
  pems_cgm_components(g.machine, g.nodes, &g.edges, &components, &forest);
  const double done = MPI_Wtime();
  pems_cgm_get_counts(g.machine, &counts);
  const struct summary s = summarize(&g, &components);
  if (bipartite) {
    pems_cgm_bipartite(g.machine, g.nodes, &g.edges, &sides, NULL);
  }
  if (checked) {
    good = check(&g, &components, &forest);
  }
  if (pems_cgm_rank(g.machine) == 0) {
    printf("RESULT app=cgm_components nodes=%" PRIu64 " edges=%" PRIu64
           " ranks=%d components=%" PRIu64 " alone=%" PRIu64 " largest=%" PRIu64
           " bipartite=%s right=%s supersteps=%" PRIu64 " bytes_sent=%" PRIu64
           " make=%.3f seconds=%.3f\n",
           g.nodes, g.all_edges, pems_cgm_size(g.machine), s.components,
           s.alone, s.largest,
           sides < 0 ? "unknown"
           : sides   ? "1"
                     : "0",
           !checked ? "unknown"
           : good   ? "1"
                    : "0",
           counts.supersteps, counts.bytes, made - start, done - made);
  }
  pems_cgm_list_free(&g.edges);
  pems_cgm_list_free(&components);
  pems_cgm_list_free(&forest);
  pems_cgm_close(g.machine);
  MPI_Finalize();
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
