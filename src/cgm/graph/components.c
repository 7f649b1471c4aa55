/* Connected components (after Dehne, Ferreira, Caceres, Song and Roncato 2002):
   rounds that contract the graph (contract.c), until so few nodes with edges
   are left that a spanning forest of them fits in a rank; then spanning forests
   of all ranks' edges are merged in pairs, and what became of nodes is told in
   the reverse order of the rounds. */
#include "cgm/graph/components.h"
#include "cgm/graph/contract.h"
#include "cgm/graph/local_forest.h"
#include "cgm/graph/lookup.h"
#include "os/bits.h"

#include <stdbool.h>
#include <string.h>

/* --- beginning --- */

static int check_edges(struct cgm_fusion *f) {
  const struct pems_cgm_edge *const edge = f->edges->at;
  const uint64_t nodes = f->cover ? f->nodes / 2 : f->nodes;
  uint64_t faults = 0;
  for (uint64_t i = 0; i < f->edges->n; i++) {
    faults += edge[i].u >= nodes || edge[i].v >= nodes;
  }
  return pems_cgm_sum_faults(f->machine, &faults, 1,
                             "pems_cgm_components: an edge of a node that does "
                             "not exist: give nodes below `nodes`");
}

static int count_edges(struct cgm_fusion *f) {
  const size_t v = (size_t)f->machine->size;
  const int error = pems_cgm_gather_all(f->machine, &f->edges->n, f->behind,
                                        sizeof(f->edges->n));
  for (size_t r = 1; r < v; r++) {
    f->behind[r] += f->behind[r - 1];
  }
  f->few = (f->nodes + f->behind[v - 1]) / v + v;
  return error;
}

static void put(struct cgm_link *links, uint64_t *n, uint64_t a, uint64_t b,
                uint64_t edge) {
  if (a != b) {
    links[(*n)++] = (struct cgm_link){{bits_min(a, b), a < b ? b : a}, edge};
  }
}

/* The smaller end comes first; loops are left out. */
static int list_links(struct cgm_fusion *f) {
  const struct pems_cgm_edge *const edge = f->edges->at;
  const uint64_t before = f->behind[f->machine->rank] - f->edges->n;
  uint64_t n = 0;
  int error = pems_cgm_new(f->machine, &f->links, f->edges->n << f->cover,
                           sizeof(struct cgm_link));
  struct cgm_link *const links = f->links.at;
  for (uint64_t i = 0; !error && i < f->edges->n; i++) {
    const uint64_t u = edge[i].u, v = edge[i].v;
    if (f->cover) {
      put(links, &n, 2 * u, 2 * v + 1, before + i);
      put(links, &n, 2 * u + 1, 2 * v, before + i);
    } else {
      put(links, &n, u, v, before + i);
    }
  }
  if (!error) {
    error = pems_cgm_resize(f->machine, &f->links, n, sizeof(*links));
  }
  return error ? error : pems_cgm_array_balancing(f->machine, &f->links);
}

static int begin(struct cgm_fusion *f) {
  const uint64_t n = pems_cgm_share(f->machine, f->nodes);
  int error = pems_cgm_new(f->machine, &f->parents, n, sizeof(uint64_t));
  if (!error) {
    error = pems_cgm_new(f->machine, &f->rounds, n, 1);
  }
  uint64_t *const parent = f->parents.at;
  for (uint64_t i = 0; !error && i < n; i++) {
    parent[i] = f->first + i;
  }
  if (!error) {
    error = check_edges(f);
  }
  if (!error) {
    error = count_edges(f);
  }
  return error ? error : list_links(f);
}

/* --- forests of what is left --- */

/* Every second of the ranks that still have links gives them to the one before.
 */
static int merge_step(struct cgm_fusion *f, int step) {
  const int rank = f->machine->rank;
  const int to = rank & step ? rank - step : rank;
  const uint64_t before = f->links.n;
  struct pems_cgm_list send;
  int error = pems_cgm_new(f->machine, &send, (uint64_t)f->machine->size,
                           sizeof(uint64_t));
  if (!error) {
    ((uint64_t *)send.at)[to] = f->links.n;
    error = pems_cgm_h_relation(f->machine, &f->links, send.at, NULL);
  }
  pems_cgm_list_free(&send);
  if (!error && f->links.n > before) {
    error = pems_cgm_unite(f->machine, &f->links, NULL);
  }
  return error;
}

static int add_to_forest(struct cgm_fusion *f) {
  const struct cgm_link *const link = f->links.at;
  const uint64_t n = f->forest.n;
  const int error =
      pems_cgm_resize(f->machine, &f->forest, n + f->links.n, sizeof(uint64_t));
  uint64_t *const edge = f->forest.at;
  for (uint64_t i = 0; !error && i < f->links.n; i++) {
    edge[n + i] = link[i].edge;
  }
  return error;
}

/* Rank 0 gets a spanning forest, and tells nodes what they belong to. */
static int merge(struct cgm_fusion *f) {
  struct pems_cgm_list hooks = {.size = sizeof(struct cgm_hook)};
  int error = pems_cgm_unite(f->machine, &f->links, NULL);
  for (int step = 1; !error && step < f->machine->size; step *= 2) {
    error = merge_step(f, step);
  }
  if (!error && f->links.n > 0) {
    error = pems_cgm_unite(f->machine, &f->links, &hooks);
  }
  if (!error && f->forest_wanted) {
    error = add_to_forest(f);
  }
  pems_cgm_list_free(&f->links);
  f->round++;
  if (!error) {
    error = pems_cgm_note_hooks(f, &hooks);
  }
  pems_cgm_list_free(&hooks);
  return error;
}

/* --- what became of all nodes --- */

static int list_parents(const struct cgm_fusion *f,
                        struct pems_cgm_list *keys) {
  const uint64_t *const parent = f->parents.at;
  const unsigned char *const round = f->rounds.at;
  uint64_t n = 0;
  for (uint64_t i = 0; i < f->rounds.n; i++) {
    n += round[i] == f->round;
  }
  const int error = pems_cgm_new(f->machine, keys, n, sizeof(uint64_t));
  uint64_t *key = keys->at;
  for (uint64_t i = 0; !error && i < f->rounds.n; i++) {
    if (round[i] == f->round) {
      *key++ = parent[i];
    }
  }
  return error;
}

/* Nodes of the round learn what became of their parents. */
static int expand_round(struct cgm_fusion *f) {
  struct pems_cgm_list keys, found = {0};
  int error = list_parents(f, &keys);
  if (!error) {
    error = pems_cgm_lookup(f->machine, f->nodes, &f->parents, &keys, &found);
  }
  const unsigned char *const round = f->rounds.at;
  const uint64_t *next = found.at;
  uint64_t *const parent = f->parents.at;
  for (uint64_t i = 0; !error && i < f->rounds.n; i++) {
    if (round[i] == f->round) {
      parent[i] = *next++;
    }
  }
  pems_cgm_list_free(&keys);
  pems_cgm_list_free(&found);
  return error;
}

/* --- the smallest nodes of components --- */

/* Nodes of this rank by what they have become part of. In `parents`, that
   becomes the first of them; *groups: these, one for each. */
static int group_nodes(struct cgm_fusion *f, struct pems_cgm_list *groups) {
  const struct pems_record by_both = {.size = sizeof(struct cgm_wide),
                                      .key = PEMS_KEY_U128};
  uint64_t *const parent = f->parents.at;
  uint64_t n = 0;
  int error =
      pems_cgm_new(f->machine, groups, f->parents.n, sizeof(struct cgm_wide));
  struct cgm_wide *group = groups->at;
  for (uint64_t i = 0; !error && i < f->parents.n; i++) {
    group[i].high = parent[i];
    group[i].low = f->first + i;
  }
  if (!error) {
    error = pems_cgm_local_sort(f->machine, groups, &by_both);
  }
  group = groups->at;
  for (uint64_t i = 0; !error && i < groups->n; i++) {
    if (n == 0 || group[i].high != group[n - 1].high) {
      group[n++] = group[i];
    }
    parent[group[i].low - f->first] = group[n - 1].low;
  }
  if (!error) {
    error = pems_cgm_resize(f->machine, groups, n, sizeof(*group));
  }
  return error ? error : pems_cgm_sort(f->machine, groups, &by_both);
}

/* Of groups by what they are part of, the first of all nodes of each: hooks of
   the groups' first nodes onto those. In place. */
static int find_firsts(struct cgm_fusion *f, struct pems_cgm_list *groups) {
  const int error =
      pems_cgm_borders(f->machine, groups, offsetof(struct cgm_wide, high),
                       offsetof(struct cgm_wide, low), f->borders);
  const int before =
      pems_cgm_border_neighbour(f->machine, f->borders, f->machine->rank, -1);
  struct cgm_wide *const group = groups->at;
  uint64_t part = PEMS_CGM_NONE, first = PEMS_CGM_NONE;
  if (before >= 0) {
    part = f->borders[before].last;
    first = pems_cgm_border_head(f->machine, f->borders, before);
  }
  for (uint64_t i = 0; !error && i < groups->n; i++) {
    first = group[i].high == part ? first : group[i].low;
    part = group[i].high;
    const struct cgm_hook hook = {group[i].low, first};
    memcpy(&group[i], &hook, sizeof(hook));
  }
  return error;
}

/* parents: the first of the rank's nodes of the component; becomes the first of
   all. */
static int take_firsts(struct cgm_fusion *f,
                       const struct pems_cgm_list *hooks) {
  const struct cgm_hook *const hook = hooks->at;
  uint64_t *const parent = f->parents.at;
  struct pems_cgm_list firsts;
  const int error =
      pems_cgm_new(f->machine, &firsts, f->parents.n, sizeof(uint64_t));
  uint64_t *const first = firsts.at;
  for (uint64_t i = 0; !error && i < hooks->n; i++) {
    first[hook[i].child - f->first] = hook[i].parent;
  }
  for (uint64_t i = 0; !error && i < f->parents.n; i++) {
    parent[i] = first[parent[i] - f->first];
  }
  pems_cgm_list_free(&firsts);
  return error;
}

static int name_components(struct cgm_fusion *f) {
  struct pems_cgm_list groups = {0};
  int error = group_nodes(f, &groups);
  if (!error) {
    error = find_firsts(f, &groups);
  }
  if (!error) {
    error = pems_cgm_send(f->machine, &groups, pems_cgm_owner_of_hook, f);
  }
  if (!error) {
    error = take_firsts(f, &groups);
  }
  pems_cgm_list_free(&groups);
  return error;
}

/* --- the forest --- */

static int owner_of_edge(void *arg, const void *edge) {
  const struct cgm_fusion *const f = arg;
  const uint64_t i = *(const uint64_t *)edge;
  int low = 0, high = f->machine->size - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (f->behind[middle] > i) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/* Every rank gives those of its own edges. */
static int make_forest(struct cgm_fusion *f, struct pems_cgm_list *forest) {
  const uint64_t before = f->behind[f->machine->rank] - f->edges->n;
  const struct pems_cgm_edge *const edge = f->edges->at;
  int error = pems_cgm_send(f->machine, &f->forest, owner_of_edge, f);
  if (!error) {
    error = pems_cgm_new(f->machine, forest, f->forest.n, sizeof(*edge));
  }
  const uint64_t *const index = f->forest.at;
  struct pems_cgm_edge *const out = forest->at;
  for (uint64_t i = 0; !error && i < forest->n; i++) {
    out[i] = edge[index[i] - before];
  }
  return error;
}

/* --- all of it --- */

static int find_components(struct cgm_fusion *f) {
  int error = begin(f);
  if (!error) {
    error = pems_cgm_contract(f);
  }
  if (!error) {
    error = merge(f);
  }
  /* What merge told needs no more questions. */
  for (f->round--; !error && f->round > 0; f->round--) {
    error = expand_round(f);
  }
  pems_cgm_list_free(&f->rounds);
  return error ? error : name_components(f);
}

int pems_cgm_find_components(struct pems_cgm *machine, uint64_t nodes,
                             const struct pems_cgm_list *edges, int cover,
                             struct pems_cgm_list *components,
                             struct pems_cgm_list *forest) {
  const uint64_t v = (uint64_t)machine->size;
  struct pems_cgm_list behind = {0}, borders = {0};
  struct cgm_fusion f = {.machine = machine,
                         .nodes = nodes << cover,
                         .edges = edges,
                         .cover = cover,
                         .forest = {.size = sizeof(uint64_t)},
                         .forest_wanted = forest != NULL};
  f.first = pems_cgm_first_own(machine, f.nodes);
  int error = pems_cgm_new(machine, &behind, v, sizeof(*f.behind));
  if (!error) {
    error = pems_cgm_new(machine, &borders, v, sizeof(*f.borders));
  }
  f.behind = behind.at;
  f.borders = borders.at;
  if (!error) {
    error = find_components(&f);
  }
  if (!error && forest) {
    error = make_forest(&f, forest);
  }
  if (error) {
    pems_cgm_list_free(&f.parents);
  }
  *components = f.parents;
  pems_cgm_list_free(&behind);
  pems_cgm_list_free(&borders);
  pems_cgm_list_free(&f.links);
  pems_cgm_list_free(&f.rounds);
  pems_cgm_list_free(&f.forest);
  pems_cgm_list_free(&f.hooks);
  return error;
}

int pems_cgm_components(struct pems_cgm *machine, uint64_t nodes,
                        const struct pems_cgm_list *edges,
                        struct pems_cgm_list *components,
                        struct pems_cgm_list *forest) {
  if (forest) {
    *forest = (struct pems_cgm_list){.size = sizeof(struct pems_cgm_edge)};
  }
  return pems_cgm_find_components(machine, nodes, edges, 0, components, forest);
}
