/* Whether a graph's nodes have two sides, and which ones. */
#include "graphs.h"

#include <stdbool.h>

/* Sides by way of components: u and v of an edge are on other ones. NULL if
   there are none. */
static unsigned char *sides_of(const struct graph *g) {
  struct graph cover = {.nodes = 2 * g->nodes};
  unsigned char *side = malloc(g->nodes + 1);
  cover.edge = malloc((2 * g->edges + 1) * sizeof(*cover.edge));
  for (uint64_t i = 0; i < g->edges; i++) {
    join(&cover, g->edge[i].u, g->edge[i].v + g->nodes);
    join(&cover, g->edge[i].u + g->nodes, g->edge[i].v);
  }
  uint64_t *const parts = components_of(&cover);
  uint64_t *const components = components_of(g);
  bool odd = false;
  for (uint64_t i = 0; i < g->nodes; i++) {
    odd |= parts[i] == parts[i + g->nodes];
    side[i] = parts[i] != parts[components[i]];
  }
  if (odd) {
    free(side);
    side = NULL;
  }
  free(parts);
  free(components);
  free(cover.edge);
  return side;
}

static void find(struct graph *g, enum spread spread, const char *what) {
  unsigned char *const expected = sides_of(g);
  struct pems_cgm_list edges =
      take(spread, g->edge, g->edges, sizeof(*g->edge));
  struct pems_cgm_list sides;
  int is = -1;
  DO(pems_cgm_bipartite(machine, g->nodes, &edges, &is, &sides));
  if (is != (expected != NULL)) {
    fail("%s of %d nodes: bipartite %d", what, (int)g->nodes, is);
  }
  if (expected) {
    check_share(&sides, expected, g->nodes, what);
  } else if (sides.at) {
    fail("%s: sides", what);
  }
  DO(pems_cgm_bipartite(machine, g->nodes, &edges, &is, NULL));
  if (is != (expected != NULL)) {
    fail("%s of %d nodes: bipartite %d", what, (int)g->nodes, is);
  }
  pems_cgm_list_free(&edges);
  free(expected);
}

/* Forests and even cycles have sides, one more edge may take them. */
static void spoil(enum form form, uint64_t n, enum spread spread) {
  struct graph g = make_graph(form, n, 1);
  find(&g, spread, form_name[form]);
  if (n > 2) {
    g.edge = realloc(g.edge, (g.edges + 1) * sizeof(*g.edge));
    join(&g, hash(n) % n, hash(n + (uint64_t)form) % n);
    find(&g, spread, form_name[form]);
  }
  free(g.edge);
}

int main(int argc, char **argv) {
  open_machine(&argc, &argv);
  for (int i = 0; length(i) >= 0; i++) {
    for (int form = 0; form < FORMS; form++) {
      if (!left_out()) {
        spoil((enum form)form, (uint64_t)length(i),
              (enum spread)((i + form) % SPREADS));
      }
    }
  }
  report("bipartite");
  return close_machine();
}
