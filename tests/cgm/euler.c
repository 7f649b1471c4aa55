/* Euler tours of forests, and graphs that are none. */
#include "graphs.h"

#include <stdbool.h>

static void tour(enum form form, uint64_t n, bool named, enum spread spread) {
  struct graph g = make_graph(form, n, named);
  struct pems_cgm_arc *const expected = tours_of(&g);
  struct pems_cgm_list edges = take(spread, g.edge, g.edges, sizeof(*g.edge));
  struct pems_cgm_list arcs;
  const uint64_t before = supersteps();
  DO(pems_cgm_euler_tour(machine, n, &edges, &arcs));
  check_supersteps(before, 18, 20, "Euler tour");
  if (edges.n || edges.at) {
    fail("edges are left");
  }
  const uint64_t first = pems_cgm_first(machine, g.edges, rank);
  check_is(&arcs, expected + 2 * first,
           2 * (pems_cgm_first(machine, g.edges, rank + 1) - first),
           form_name[form]);
  pems_cgm_list_free(&arcs);
  free(expected);
  free(g.edge);
}

/* A path with another edge, or none. */
static void refuse(uint64_t n, const struct pems_cgm_edge *more) {
  struct graph g = make_graph(PATH, n, 1);
  g.edge = realloc(g.edge, (g.edges + 1) * sizeof(*g.edge));
  g.edge[g.edges++] = *more;
  struct pems_cgm_list edges = take(RANDOM, g.edge, g.edges, sizeof(*g.edge));
  struct pems_cgm_list arcs;
  int error = pems_cgm_euler_tour(machine, n, &edges, &arcs);
  if (error != MPI_SUCCESS) {
    MPI_Error_class(error, &error);
  }
  if (error != MPI_ERR_ARG || arcs.at) {
    fail("%d nodes, %d-%d: error %d", (int)n, (int)more->u, (int)more->v,
         error);
  }
  free(g.edge);
}

/* Graphs with cycles, however they lie. */
static void refuse_graph(enum form form, uint64_t n) {
  struct graph g = make_graph(form, n, 1);
  struct pems_cgm_list edges = take(EVEN, g.edge, g.edges, sizeof(*g.edge));
  struct pems_cgm_list arcs;
  int error = pems_cgm_euler_tour(machine, n, &edges, &arcs);
  if (error != MPI_SUCCESS) {
    MPI_Error_class(error, &error);
  }
  if (error != MPI_ERR_ARG || arcs.at) {
    fail("%s of %d nodes: error %d", form_name[form], (int)n, error);
  }
  free(g.edge);
}

int main(int argc, char **argv) {
  open_machine(&argc, &argv);
  for (int i = 0; length(i) >= 0; i++) {
    for (int form = 0; form < FORESTS; form++) {
      for (int s = 0; s < SPREADS; s++) {
        if (!left_out()) {
          tour((enum form)form, (uint64_t)length(i), s != 1, (enum spread)s);
        }
      }
    }
  }
  report("tours");
  MPI_Comm_set_errhandler(pems_cgm_comm(machine), MPI_ERRORS_RETURN);
  for (uint64_t n = 3; n < 1000; n *= 7) {
    const struct pems_cgm_edge more[] = {
        {0, 0}, {0, n}, {n - 1, n - 1}, {n / 2, n}, {NONE, 1}};
    for (int i = 0; i < 5; i++) {
      if (!left_out()) {
        refuse(n, &more[i]);
      }
    }
    const struct graph g = make_graph(PATH, n, 1);
    refuse(n, &g.edge[n / 2]);
    free(g.edge);
  }
  for (int form = FORESTS; form < FORMS; form++) {
    if (!left_out()) {
      refuse_graph((enum form)form, 111);
    }
  }
  return close_machine();
}
