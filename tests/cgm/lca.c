/* Lowest common ancestors: of nodes anywhere, beside each other, the same. */
#include "graphs.h"

enum asking { ANY, NEAR, SAME, ONE_RANK, ROOTS, ASKINGS };

static struct pems_cgm_edge query(enum asking how, uint64_t n, uint64_t i) {
  const uint64_t u = hash(i) % n;
  switch (how) {
  case NEAR:
    return (struct pems_cgm_edge){u, (u + hash(i + n) % 5) % n};
  case SAME:
    return (struct pems_cgm_edge){n / 2, n / 3};
  case ONE_RANK: /* of the preorder of a path */
    return (struct pems_cgm_edge){u % (n / (uint64_t)size + 1), hash(u) % n};
  case ROOTS:
    return (struct pems_cgm_edge){0, u};
  default:
    return (struct pems_cgm_edge){u, hash(i + n) % n};
  }
}

static uint64_t climb(const struct pems_cgm_node *node, uint64_t u,
                      uint64_t v) {
  if (node[u].root != node[v].root) {
    return NONE;
  }
  while (u != v) {
    if (node[u].depth < node[v].depth) {
      v = node[v].parent;
    } else {
      u = node[u].parent;
    }
  }
  return u;
}

static void ask(const struct pems_cgm_list *tree,
                const struct pems_cgm_node *node, uint64_t n, enum asking how,
                enum spread spread) {
  const uint64_t m = n == 0 ? 0 : n < 500 ? n + 3 : 500;
  struct pems_cgm_edge *const all = malloc((m + 1) * sizeof(*all));
  uint64_t *const expected = malloc((m + 1) * sizeof(*expected));
  for (uint64_t i = 0; i < m; i++) {
    all[i] = query(how, n, i);
    expected[i] = climb(node, all[i].u, all[i].v);
  }
  struct pems_cgm_list queries = take(spread, all, m, sizeof(*all)), answers;
  const uint64_t before = supersteps();
  DO(pems_cgm_lca(machine, n, tree, &queries, &answers));
  check_supersteps(before, 0, how == ONE_RANK ? 99 : 36,
                   "lowest common ancestors");
  check_is(&answers, expected + first_of(spread, m, rank), queries.n,
           "lowest common ancestors");
  pems_cgm_list_free(&queries);
  pems_cgm_list_free(&answers);
  free(all);
  free(expected);
}

static void ancestors(enum form form, uint64_t n, int named) {
  struct graph g = make_graph(form, n, named);
  struct pems_cgm_arc *const arcs = tours_of(&g);
  struct pems_cgm_node *const node = nodes_of(&g, arcs);
  struct pems_cgm_list tree = take(EVEN, node, n, sizeof(*node));
  for (int how = 0; how < ASKINGS; how++) {
    ask(&tree, node, n, (enum asking)how, (enum spread)(how % SPREADS));
  }
  pems_cgm_list_free(&tree);
  free(arcs);
  free(node);
  free(g.edge);
}

static void refuse(uint64_t n) {
  const struct pems_cgm_edge beyond = {0, n};
  struct graph g = make_graph(SINGLETONS, n, 0);
  struct pems_cgm_node *const node = nodes_of(&g, NULL);
  struct pems_cgm_list tree = take(EVEN, node, n, sizeof(*node)), answers;
  struct pems_cgm_list queries = take(LAST, &beyond, 1, sizeof(beyond));
  int error = pems_cgm_lca(machine, n, &tree, &queries, &answers);
  if (error != MPI_SUCCESS) {
    MPI_Error_class(error, &error);
  }
  if (error != MPI_ERR_ARG || answers.at) {
    fail("a node beyond %d: error %d", (int)n, error);
  }
  pems_cgm_list_free(&tree);
  pems_cgm_list_free(&queries);
  free(node);
  free(g.edge);
}

int main(int argc, char **argv) {
  open_machine(&argc, &argv);
  for (int i = 0; length(i) >= 0; i++) {
    for (int form = 0; form < FORESTS; form++) {
      for (int named = 0; named < 2; named++) {
        if (!left_out()) {
          ancestors((enum form)form, (uint64_t)length(i), named);
        }
      }
    }
  }
  report("lowest common ancestors");
  MPI_Comm_set_errhandler(pems_cgm_comm(machine), MPI_ERRORS_RETURN);
  refuse(0);
  refuse(70);
  return close_machine();
}
