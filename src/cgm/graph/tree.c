/* Rooted trees from their Euler tours: the arc that comes first of an edge's
   two leads down, and depths are prefix sums along the tours, of 1 for arcs
   down and -1 for arcs up (Tarjan and Vishkin 1985). All tours stand one after
   another; each one's sum is 0. */
#include "cgm/graph/graph.h"

#include <stdbool.h>
#include <string.h>

/* An arc in the order of the tours. */
struct stop {
  struct cgm_wide place; /* root, position */
  uint64_t arc;
};

/* ... then, the prefix sum. */
struct level {
  uint64_t arc;
  int64_t depth;
};

struct about {
  uint64_t node;
  struct pems_cgm_node is;
};

struct rooting {
  struct pems_cgm *machine;
  uint64_t nodes, edges;
  const struct pems_cgm_list *arcs;
  uint64_t first; /* arc of this rank */
};

static const struct pems_cgm_arc *arc_at(const struct rooting *t, uint64_t i) {
  return (const struct pems_cgm_arc *)t->arcs->at + i;
}

/* Is the rank's i-th arc one from parent to child? */
static bool leads_down(const struct rooting *t, uint64_t i) {
  return arc_at(t, i)->position < arc_at(t, i ^ 1)->position;
}

static void add(void *arg, const void *left, void *right) {
  (void)arg;
  ((struct level *)right)->depth += ((const struct level *)left)->depth;
}

static int list_stops(const struct rooting *t, struct pems_cgm_list *list) {
  const int error =
      pems_cgm_new(t->machine, list, t->arcs->n, sizeof(struct stop));
  struct stop *const stop = list->at;
  for (uint64_t i = 0; !error && i < t->arcs->n; i++) {
    stop[i].place.high = arc_at(t, i)->root;
    stop[i].place.low = arc_at(t, i)->position;
    stop[i].arc = (t->first + i) * 2 + (uint64_t)leads_down(t, i);
  }
  return error;
}

/* In place; the arcs still say which way they lead. */
static int stops_to_levels(const struct rooting *t,
                           struct pems_cgm_list *list) {
  const struct stop *const stop = list->at;
  struct level *const levels = list->at;
  for (uint64_t i = 0; i < list->n; i++) {
    const uint64_t arc = stop[i].arc;
    const struct level level = {arc, arc & 1 ? 1 : -1};
    memcpy(&levels[i], &level, sizeof(level));
  }
  return pems_cgm_resize(t->machine, list, list->n, sizeof(*levels));
}

/* Arcs down only; the rest is sent nowhere. */
static int keep_down(const struct rooting *t, struct pems_cgm_list *list) {
  struct level *const level = list->at;
  uint64_t n = 0;
  for (uint64_t i = 0; i < list->n; i++) {
    if (level[i].arc & 1) {
      level[n++] = (struct level){level[i].arc / 2, level[i].depth};
    }
  }
  return pems_cgm_resize(t->machine, list, n, sizeof(*level));
}

static int owner_of_level(void *arg, const void *level) {
  const struct rooting *const t = arg;
  return pems_cgm_owner(t->machine, t->edges,
                        ((const struct level *)level)->arc / 2);
}

/* The depths of this rank's arcs down, at their owners. */
static int find_levels(struct rooting *t, struct pems_cgm_list *list) {
  const struct pems_record by_place = {.size = sizeof(struct stop),
                                       .key = PEMS_KEY_U128};
  int error = list_stops(t, list);
  if (!error) {
    error = pems_cgm_sort(t->machine, list, &by_place);
  }
  if (!error) {
    error = stops_to_levels(t, list);
  }
  if (!error) {
    error = pems_cgm_prefix(t->machine, list, add, NULL);
  }
  if (!error) {
    error = keep_down(t, list);
  }
  return error ? error : pems_cgm_send(t->machine, list, owner_of_level, t);
}

/* The child of an arc down. Of the position + 1 arcs so far `depth` more lead
   down than up. */
static struct about child_of(const struct rooting *t,
                             const struct level *level) {
  const uint64_t i = level->arc - t->first;
  const struct pems_cgm_arc *const arc = arc_at(t, i);
  const uint64_t depth = (uint64_t)level->depth;
  return (struct about){
      arc->to,
      {.parent = arc->from,
       .root = arc->root,
       .depth = depth,
       .preorder = (arc->position + 1 + depth) / 2,
       .size = (arc_at(t, i ^ 1)->position - arc->position + 1) / 2}};
}

/* The root, where its tour ends. */
static struct about root_of(const struct pems_cgm_arc *last) {
  return (struct about){last->root,
                        {.parent = PEMS_CGM_NONE,
                         .root = last->root,
                         .size = (last->position + 1) / 2 + 1}};
}

static int list_nodes(const struct rooting *t, struct pems_cgm_list *levels,
                      struct pems_cgm_list *list) {
  const struct level *const level = levels->at;
  uint64_t n = 0, roots = 0;
  for (uint64_t i = 0; i < t->arcs->n; i++) {
    roots += arc_at(t, i)->next == PEMS_CGM_NONE;
  }
  const int error =
      pems_cgm_new(t->machine, list, levels->n + roots, sizeof(struct about));
  struct about *const at = list->at;
  for (uint64_t i = 0; !error && i < levels->n; i++) {
    at[n++] = child_of(t, &level[i]);
  }
  pems_cgm_list_free(levels);
  for (uint64_t i = 0; !error && i < t->arcs->n; i++) {
    if (arc_at(t, i)->next == PEMS_CGM_NONE) {
      at[n++] = root_of(arc_at(t, i));
    }
  }
  return error;
}

static int owner_of_about(void *arg, const void *about) {
  const struct rooting *const t = arg;
  return pems_cgm_owner(t->machine, t->nodes,
                        ((const struct about *)about)->node);
}

/* Nodes that none is told about are alone. */
static int make_tree(const struct rooting *t, const struct pems_cgm_list *list,
                     struct pems_cgm_list *tree) {
  const struct about *const about = list->at;
  const uint64_t first = pems_cgm_first_own(t->machine, t->nodes);
  const int error =
      pems_cgm_new(t->machine, tree, pems_cgm_share(t->machine, t->nodes),
                   sizeof(struct pems_cgm_node));
  struct pems_cgm_node *const node = tree->at;
  for (uint64_t i = 0; !error && i < tree->n; i++) {
    node[i] = (struct pems_cgm_node){
        .parent = PEMS_CGM_NONE, .root = first + i, .size = 1};
  }
  for (uint64_t i = 0; !error && i < list->n; i++) {
    node[about[i].node - first] = about[i].is;
  }
  return error;
}

/* Sums the arcs; their shares must be even, of pairs. */
static int count_edges(struct rooting *t) {
  uint64_t sums[] = {t->arcs->n, 0};
  int error = pems_cgm_sum(t->machine, sums, 1);
  if (!error) {
    t->edges = sums[0] / 2;
    t->first = 2 * pems_cgm_first_own(t->machine, t->edges);
    sums[1] = t->arcs->n != 2 * pems_cgm_share(t->machine, t->edges);
    for (uint64_t i = 0; i < t->arcs->n; i++) {
      sums[1] += arc_at(t, i)->from >= t->nodes || arc_at(t, i)->to >= t->nodes;
    }
    error = pems_cgm_sum_faults(t->machine, &sums[1], 1,
                                "pems_cgm_tree: arcs of nodes that do not "
                                "exist, or in other shares: give all of "
                                "pems_cgm_euler_tour's");
  }
  return error;
}

int pems_cgm_tree(struct pems_cgm *machine, uint64_t nodes,
                  const struct pems_cgm_list *arcs,
                  struct pems_cgm_list *tree) {
  struct rooting t = {.machine = machine, .nodes = nodes, .arcs = arcs};
  struct pems_cgm_list levels = {0}, abouts = {0};
  *tree = (struct pems_cgm_list){.size = sizeof(struct pems_cgm_node)};
  int error = count_edges(&t);
  if (!error) {
    error = find_levels(&t, &levels);
  }
  if (!error) {
    error = list_nodes(&t, &levels, &abouts);
  }
  if (!error) {
    error = pems_cgm_send(machine, &abouts, owner_of_about, &t);
  }
  if (!error) {
    error = make_tree(&t, &abouts, tree);
  }
  pems_cgm_list_free(&levels);
  pems_cgm_list_free(&abouts);
  return error;
}
