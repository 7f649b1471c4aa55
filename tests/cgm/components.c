/* Connected components and spanning forests. */
#include "graphs.h"

#include <stdbool.h>

/* Edges that are of the graph, as many as needed, and join what they should. */
static void check_forest(const struct graph *g, struct pems_cgm_list *list,
                         const uint64_t *components) {
  DO(pems_cgm_all_to_all_bcast(machine, list));
  struct graph f = {g->nodes, list->n, list->at};
  uint64_t trees = 0, sums[2] = {0, 0};
  for (uint64_t i = 0; i < g->nodes; i++) {
    trees += components[i] == i;
  }
  if (trees + f.edges != g->nodes) {
    fail("forest: %d edges", (int)f.edges);
  }
  uint64_t *const joined = components_of(&f);
  if (memcmp(joined, components, g->nodes * sizeof(*joined)) != 0) {
    fail("forest: other components");
  }
  /* All edges of the forest, sorted, are among the graph's. */
  for (uint64_t i = 0; i < f.edges; i++) {
    for (uint64_t j = 0; g->nodes < 200 && j < g->edges; j++) {
      if (f.edge[i].u == g->edge[j].u && f.edge[i].v == g->edge[j].v) {
        sums[0]++;
        break;
      }
    }
    sums[1]++;
  }
  if (g->nodes < 200 && sums[0] != sums[1]) {
    fail("forest: edges of no graph");
  }
  free(joined);
  pems_cgm_list_free(list);
}

static void find(enum form form, uint64_t n, bool named, enum spread spread) {
  struct graph g = make_graph(form, n, named);
  uint64_t *const expected = components_of(&g);
  struct pems_cgm_list edges = take(spread, g.edge, g.edges, sizeof(*g.edge));
  struct pems_cgm_list components, forest;
  const uint64_t before = supersteps();
  DO(pems_cgm_components(machine, n, &edges, &components, &forest));
  check_supersteps(before, 36, 28, form_name[form]);
  check_is(&edges, g.edge + first_of(spread, g.edges, rank), edges.n, "edges");
  check_share(&components, expected, n, form_name[form]);
  check_forest(&g, &forest, expected);
  DO(pems_cgm_components(machine, n, &edges, &components, NULL));
  check_share(&components, expected, n, form_name[form]);
  pems_cgm_list_free(&edges);
  free(expected);
  free(g.edge);
}

static void refuse(uint64_t n) {
  const struct pems_cgm_edge beyond = {0, n};
  struct pems_cgm_list edges = take(LAST, &beyond, 1, sizeof(beyond));
  struct pems_cgm_list components, forest;
  int error = pems_cgm_components(machine, n, &edges, &components, &forest);
  if (error != MPI_SUCCESS) {
    MPI_Error_class(error, &error);
  }
  if (error != MPI_ERR_ARG || components.at || forest.at) {
    fail("a node beyond %d: error %d", (int)n, error);
  }
  pems_cgm_list_free(&edges);
}

int main(int argc, char **argv) {
  open_machine(&argc, &argv);
  for (int i = 0; length(i) >= 0; i++) {
    for (int form = 0; form < FORMS; form++) {
      for (int s = 0; s < 3; s++) {
        if (!left_out()) {
          find((enum form)form, (uint64_t)length(i), s > 0,
               (enum spread)((i + form + s) % SPREADS));
        }
      }
    }
  }
  report("components");
  MPI_Comm_set_errhandler(pems_cgm_comm(machine), MPI_ERRORS_RETURN);
  refuse(0);
  refuse(100);
  return close_machine();
}
