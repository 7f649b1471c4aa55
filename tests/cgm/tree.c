/* Parents, depths, preorders and sizes from Euler tours. */
#include "graphs.h"

static void root(enum form form, uint64_t n, int named, enum spread spread) {
  struct graph g = make_graph(form, n, named);
  struct pems_cgm_arc *const all = tours_of(&g);
  struct pems_cgm_node *const expected = nodes_of(&g, all);
  struct pems_cgm_list edges = take(spread, g.edge, g.edges, sizeof(*g.edge));
  struct pems_cgm_list arcs, tree;
  DO(pems_cgm_euler_tour(machine, n, &edges, &arcs));
  const uint64_t before = supersteps();
  DO(pems_cgm_tree(machine, n, &arcs, &tree));
  check_supersteps(before, 0, 24, "tree");
  pems_cgm_list_free(&arcs);
  check_share(&tree, expected, n, form_name[form]);
  free(all);
  free(expected);
  free(g.edge);
}

int main(int argc, char **argv) {
  open_machine(&argc, &argv);
  for (int i = 0; length(i) >= 0; i++) {
    for (int form = 0; form < FORESTS; form++) {
      for (int s = 0; s < 2; s++) {
        if (!left_out()) {
          root((enum form)form, (uint64_t)length(i), s, s ? RANDOM : EVEN);
        }
      }
    }
  }
  report("trees");
  return close_machine();
}
