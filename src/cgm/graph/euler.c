/* Euler tours. The arcs that leave a node stand in a circle, in the order of
   their edges; after having come back along an arc's twin the tour goes on
   along the next arc of the circle (Tarjan and Vishkin 1985). So every tree
   has one circular tour, which contraction cuts before the first arc of its
   smallest node.

   Whatever the graph is, these are the faces of an embedding, and by Euler's
   formula nodes - edges = 2 components - 2 genus - faces; every component has a
   face, so nodes - edges = faces exactly where all components are trees. */
#include "cgm/graph/list_contraction.h"

#include <stdbool.h>
#include <string.h>

#include "cgm/fault.h"

static const char no_forest[] =
    "pems_cgm_euler_tour: edges that make a cycle: give a forest's";

/* An arc among those that leave the same node. */
struct leaving {
  uint64_t from;
  uint64_t arc;
};

/* For an arc: the one after its twin, and whether it is the first of its
   node's. */
struct after {
  uint64_t arc;
  uint64_t next : 63;
  uint64_t first : 1;
};

struct tour {
  struct pems_cgm *machine;
  uint64_t nodes, edges;
  struct pems_cgm_list edge; /* even shares; struct pems_cgm_edge */
  struct pems_cgm_list next; /* of the rank's arcs; uint64_t */
  struct cgm_chain chain;    /* of arcs */
};

static int check_edges(struct tour *t) {
  const struct pems_cgm_edge *const edge = t->edge.at;
  uint64_t sums[] = {t->edge.n, 0};
  for (uint64_t i = 0; i < t->edge.n; i++) {
    sums[1] += edge[i].u >= t->nodes || edge[i].v >= t->nodes ||
               edge[i].u == edge[i].v;
  }
  const int error = pems_cgm_sum_faults(
      t->machine, sums, 2,
      "pems_cgm_euler_tour: a loop, or a node that does not exist: give two "
      "nodes below `nodes` for each edge");
  t->edges = sums[0];
  return error;
}

/* --- circles --- */

static int list_leaving(struct tour *t, struct pems_cgm_list *list) {
  const struct pems_cgm_edge *const edge = t->edge.at;
  const uint64_t first = pems_cgm_chain_first(&t->chain);
  const int error =
      pems_cgm_new(t->machine, list, 2 * t->edge.n, sizeof(struct leaving));
  struct leaving *const at = list->at;
  for (uint64_t i = 0; !error && i < t->edge.n; i++) {
    at[2 * i] = (struct leaving){edge[i].u, first + 2 * i};
    at[2 * i + 1] = (struct leaving){edge[i].v, first + 2 * i + 1};
  }
  return error;
}

/* Of arcs by node, what follows each in the circle. In place: struct leaving
   becomes struct after. */
static void close_circles(const struct tour *t, const struct cgm_border *all,
                          struct pems_cgm_list *list) {
  const int before =
      pems_cgm_border_neighbour(t->machine, all, t->machine->rank, -1);
  const int behind =
      pems_cgm_border_neighbour(t->machine, all, t->machine->rank, 1);
  struct leaving *const at = list->at;
  uint64_t node = before < 0 ? PEMS_CGM_NONE : all[before].last;
  uint64_t head = before < 0 ? PEMS_CGM_NONE
                             : pems_cgm_border_head(t->machine, all, before);
  for (uint64_t i = 0; i < list->n; i++) {
    const struct leaving this = at[i];
    const bool first = this.from != node;
    uint64_t next;
    head = first ? this.arc : head;
    node = this.from;
    if (i + 1 < list->n) {
      next = at[i + 1].from == node ? at[i + 1].arc : head;
    } else {
      next =
          behind >= 0 && all[behind].first == node ? all[behind].value : head;
    }
    const struct after after = {this.arc, next, first & 1};
    memcpy(&at[i], &after, sizeof(after));
  }
}

static int owner_of_after(void *arg, const void *after) {
  const struct tour *const t = arg;
  return pems_cgm_chain_owner(&t->chain, ((const struct after *)after)->arc);
}

/* struct after of all of the rank's arcs. */
static int make_circles(struct tour *t, struct pems_cgm_list *list) {
  const struct pems_record by_node = {
      .size = sizeof(struct leaving), .key = PEMS_KEY_U64, .stable = 1};
  struct pems_cgm_list borders;
  int error = pems_cgm_new(t->machine, &borders, (uint64_t)t->machine->size,
                           sizeof(struct cgm_border));
  struct cgm_border *const all = borders.at;
  if (!error) {
    error = list_leaving(t, list);
  }
  if (!error) {
    error = pems_cgm_sort(t->machine, list, &by_node);
  }
  if (!error) {
    error = pems_cgm_borders(t->machine, list, offsetof(struct leaving, from),
                             offsetof(struct leaving, arc), all);
  }
  if (!error) {
    close_circles(t, all, list);
    error = pems_cgm_send(t->machine, list, owner_of_after, t);
  }
  pems_cgm_list_free(&borders);
  return error;
}

/* --- tours --- */

/* *heads: first arcs of nodes. */
static int link_arcs(struct tour *t, const struct pems_cgm_list *circles,
                     uint64_t *heads) {
  const struct pems_cgm_edge *const edge = t->edge.at;
  const struct after *const after = circles->at;
  const uint64_t begin = pems_cgm_chain_first(&t->chain);
  int error = pems_cgm_new(t->machine, &t->next, circles->n, sizeof(uint64_t));
  if (!error) {
    error = pems_cgm_new(t->machine, &t->chain.hops, circles->n,
                         sizeof(struct cgm_hop));
  }
  uint64_t *const next = t->next.at;
  struct cgm_hop *const hops = t->chain.hops.at;
  for (uint64_t i = 0; !error && i < circles->n; i++) {
    const uint64_t arc = after[i].arc - begin, twin = arc ^ 1;
    const struct pems_cgm_edge *const e = &edge[arc / 2];
    next[twin] = after[i].next;
    hops[twin].next = after[i].next;
    hops[arc].steps = 1;
    hops[arc].key = after[i].first ? (arc & 1 ? e->v : e->u) : PEMS_CGM_NONE;
    *heads += after[i].first;
  }
  return error;
}

/* No tour without a first arc; as many tours as there are trees. */
static int check_tours(struct tour *t, uint64_t heads) {
  enum { NODES, EDGES, TOURS, FAULTS, SUMS };
  const struct cgm_hop *const hops = t->chain.hops.at;
  uint64_t sums[SUMS] = {heads, t->edge.n};
  for (uint64_t i = 0; i < t->chain.hops.n; i++) {
    sums[TOURS] += hops[i].steps == 0;
    sums[FAULTS] += hops[i].next == PEMS_CGM_NONE;
  }
  const int error = pems_cgm_sum_faults(t->machine, sums, SUMS, no_forest);
  return !error && sums[NODES] - sums[EDGES] != sums[TOURS]
             ? pems_cgm_fail(t->machine, MPI_ERR_ARG, "%s", no_forest)
             : error;
}

/* Hops become arcs, which are longer, where they are: from the last one. */
static int make_arcs(struct tour *t, struct pems_cgm_list *arcs) {
  const uint64_t n = t->chain.hops.n;
  const int error = pems_cgm_resize(t->machine, &t->chain.hops, n,
                                    sizeof(struct pems_cgm_arc));
  const struct pems_cgm_edge *const edge = t->edge.at;
  const uint64_t *const next = t->next.at;
  const struct cgm_hop *const hops = t->chain.hops.at;
  struct pems_cgm_arc *const arcs_at = t->chain.hops.at;
  if (error) {
    return error;
  }
  for (uint64_t i = n; i-- > 0;) {
    const struct cgm_hop hop = hops[i];
    const struct pems_cgm_edge *const e = &edge[i / 2];
    const uint64_t position = hop.steps ? hop.length - hop.steps : 0;
    const struct pems_cgm_arc arc = {
        .from = i & 1 ? e->v : e->u,
        .to = i & 1 ? e->u : e->v,
        .next = position + 1 == hop.length ? PEMS_CGM_NONE : next[i],
        .root = hop.next,
        .position = position};
    memcpy(&arcs_at[i], &arc, sizeof(arc));
  }
  *arcs = t->chain.hops;
  t->chain.hops.at = NULL;
  return MPI_SUCCESS;
}

static int make_tours(struct tour *t, struct pems_cgm_list *arcs) {
  struct pems_cgm_list circles = {0};
  uint64_t heads = 0;
  int error = make_circles(t, &circles);
  if (!error) {
    error = link_arcs(t, &circles, &heads);
  }
  pems_cgm_list_free(&circles);
  if (!error) {
    error = pems_cgm_chain_contract(&t->chain);
  }
  if (!error) {
    error = check_tours(t, heads);
  }
  return error ? error : make_arcs(t, arcs);
}

int pems_cgm_euler_tour(struct pems_cgm *machine, uint64_t nodes,
                        struct pems_cgm_list *edges,
                        struct pems_cgm_list *arcs) {
  struct tour t = {.machine = machine, .nodes = nodes, .edge = *edges};
  *edges = (struct pems_cgm_list){.size = edges->size};
  *arcs = (struct pems_cgm_list){.size = sizeof(struct pems_cgm_arc)};
  int error = check_edges(&t);
  if (!error) {
    error = pems_cgm_array_balancing(machine, &t.edge);
  }
  if (!error) {
    t.chain = (struct cgm_chain){
        .machine = machine, .nodes = 2 * t.edges, .unit = 2, .cycles = 1};
    error = make_tours(&t, arcs);
  }
  pems_cgm_list_free(&t.edge);
  pems_cgm_list_free(&t.next);
  pems_cgm_list_free(&t.chain.hops);
  return error;
}
