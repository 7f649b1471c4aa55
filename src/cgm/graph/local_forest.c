#include "cgm/graph/local_forest.h"

/* Union-find (Tarjan 1975, with Tarjan and van Leeuwen's path halving) over the
   nodes that occur. Each is hooked onto the smaller one, so that parents come
   before their children; no path is long, since all are halved. */

/* A node that occurs; parents are indices of such. */
struct root {
  uint64_t node;
  uint64_t parent;
};

static uint64_t find_root(struct root *roots, uint64_t i) {
  while (roots[i].parent != i) {
    roots[i].parent = roots[roots[i].parent].parent;
    i = roots[i].parent;
  }
  return i;
}

/* The different ends of links, sorted. */
static int list_roots(struct pems_cgm *machine,
                      const struct pems_cgm_list *links,
                      struct pems_cgm_list *roots) {
  const struct pems_record by_node = {.size = sizeof(struct root),
                                      .key = PEMS_KEY_U64};
  const struct cgm_link *const link = links->at;
  uint64_t n = 0;
  int error = pems_cgm_new(machine, roots, 2 * links->n, sizeof(struct root));
  struct root *const root = roots->at;
  for (uint64_t i = 0; !error && i < links->n; i++) {
    root[2 * i].node = link[i].end[0];
    root[2 * i + 1].node = link[i].end[1];
  }
  if (!error) {
    error = pems_cgm_local_sort(machine, roots, &by_node);
  }
  struct root *const sorted = roots->at;
  for (uint64_t i = 0; !error && i < roots->n; i++) {
    if (i == 0 || sorted[i].node != sorted[n - 1].node) {
      sorted[n] = (struct root){sorted[i].node, n};
      n++;
    }
  }
  return error ? error : pems_cgm_resize(machine, roots, n, sizeof(*root));
}

/* Keeps links between different trees. */
static uint64_t join(struct pems_cgm_list *links, struct pems_cgm_list *roots) {
  struct cgm_link *const link = links->at;
  struct root *const root = roots->at;
  uint64_t n = 0;
  for (uint64_t i = 0; i < links->n; i++) {
    const uint64_t a =
        find_root(root, pems_cgm_find_node(roots, link[i].end[0]));
    const uint64_t b =
        find_root(root, pems_cgm_find_node(roots, link[i].end[1]));
    if (a != b) {
      root[a > b ? a : b].parent = a > b ? b : a;
      link[n++] = link[i];
    }
  }
  return n;
}

static int list_hooks(struct pems_cgm *machine, struct pems_cgm_list *roots,
                      struct pems_cgm_list *hooks) {
  struct root *const root = roots->at;
  uint64_t n = 0;
  const int error =
      pems_cgm_new(machine, hooks, roots->n, sizeof(struct cgm_hook));
  struct cgm_hook *const hook = hooks->at;
  for (uint64_t i = 0; !error && i < roots->n; i++) {
    const uint64_t to = find_root(root, i);
    if (to != i) {
      hook[n++] = (struct cgm_hook){root[i].node, root[to].node};
    }
  }
  return error ? error : pems_cgm_resize(machine, hooks, n, sizeof(*hook));
}

int pems_cgm_unite(struct pems_cgm *machine, struct pems_cgm_list *links,
                   struct pems_cgm_list *hooks) {
  struct pems_cgm_list roots;
  int error = list_roots(machine, links, &roots);
  if (!error) {
    error = pems_cgm_resize(machine, links, join(links, &roots),
                            sizeof(struct cgm_link));
  }
  if (!error && hooks) {
    error = list_hooks(machine, &roots, hooks);
  }
  pems_cgm_list_free(&roots);
  return error;
}
