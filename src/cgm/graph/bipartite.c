#include "cgm/graph/components.h"

/* A component is bipartite if its double cover falls apart: then node 2u is in
   the part of twice the component's smallest node w, and u on w's side, or in
   that of 2w + 1. Otherwise both 2w and 2w + 1 are in that of 2w. */
static uint64_t count_odd_cycles(const struct pems_cgm_list *parts,
                                 uint64_t first) {
  const uint64_t *const part = parts->at;
  uint64_t n = 0;
  for (uint64_t i = 0; i < parts->n; i++) {
    n += ((first + i) & 1) && part[i] + 1 == first + i;
  }
  return n;
}

/* The sides of nodes whose first copies are here; in even shares, then. */
static int list_sides(struct pems_cgm *machine,
                      const struct pems_cgm_list *parts, uint64_t first,
                      struct pems_cgm_list *sides) {
  const uint64_t *const part = parts->at;
  uint64_t n = 0;
  const int error = pems_cgm_new(machine, sides, parts->n / 2 + 1, 1);
  unsigned char *const side = sides->at;
  for (uint64_t i = first & 1; !error && i < parts->n; i += 2) {
    side[n++] = part[i] & 1;
  }
  return error ? error : pems_cgm_resize(machine, sides, n, 1);
}

int pems_cgm_bipartite(struct pems_cgm *machine, uint64_t nodes,
                       const struct pems_cgm_list *edges, int *bipartite,
                       struct pems_cgm_list *sides) {
  struct pems_cgm_list parts;
  const uint64_t first = pems_cgm_first_own(machine, 2 * nodes);
  uint64_t odd = 0;
  if (sides) {
    *sides = (struct pems_cgm_list){.size = 1};
  }
  int error = pems_cgm_find_components(machine, nodes, edges, 1, &parts, NULL);
  if (!error) {
    odd = count_odd_cycles(&parts, first);
    error = pems_cgm_sum(machine, &odd, 1);
  }
  *bipartite = odd == 0;
  if (!error && sides && *bipartite) {
    error = list_sides(machine, &parts, first, sides);
  }
  pems_cgm_list_free(&parts);
  if (!error && sides && *bipartite) {
    error = pems_cgm_array_balancing(machine, sides);
  }
  return error;
}
