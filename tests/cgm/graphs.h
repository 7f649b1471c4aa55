/* Graphs for tests of <pems/cgm.h>, and what is known of them. */
#ifndef TESTS_CGM_GRAPHS_H
#define TESTS_CGM_GRAPHS_H

#include "cgm.h"

#include <stdbool.h>

#define NONE PEMS_CGM_NONE

struct graph {
  uint64_t nodes, edges;
  struct pems_cgm_edge *edge;
};

/* The first ones are forests. */
enum form {
  PATH,
  STAR,
  CATERPILLAR,
  RANDOM_TREE,
  BINARY,
  SHALLOW, /* trees with centres among the first n / v nodes */
  SMALL_TREES,
  PAIRS,
  SINGLETONS,
  FORESTS, /* so many */
  CYCLES = FORESTS,
  SPARSE,
  DENSE,
  MESS, /* loops, double edges, some parts without any */
  CORE, /* all edges among few nodes */
  FORMS
};
static const char *const form_name[] = {
    "path",    "star",  "caterpillar", "random tree", "binary",
    "shallow", "small", "pairs",       "singletons",  "cycles",
    "sparse",  "dense", "mess",        "core"};

/* Node i of a tree is joined to this one before it; NONE to none. */
static inline uint64_t parent_in(enum form form, uint64_t n, uint64_t i) {
  const uint64_t few = n / (uint64_t)size + 1;
  switch (form) {
  case PATH:
    return i - 1;
  case STAR:
    return 0;
  case CATERPILLAR:
    return i % 2 ? i - 1 : i - 2;
  case RANDOM_TREE:
    return hash(i) % i;
  case BINARY:
    return (i - 1) / 2;
  case SHALLOW:
    return i < few ? NONE : i % few;
  case SMALL_TREES:
    return hash(i) % 5 ? i - 1 - hash(i + n) % (i < 3 ? i : 3) : NONE;
  case PAIRS:
    return i % 2 ? i - 1 : NONE;
  default:
    return NONE;
  }
}

/* A bijection on 0 .. n - 1: names of nodes, or the order of edges. */
static inline uint64_t *permutation(uint64_t n, uint64_t seed) {
  uint64_t *const p = malloc((n + 1) * sizeof(*p));
  for (uint64_t i = 0; i < n; i++) {
    p[i] = i;
  }
  for (uint64_t i = n; seed && i > 1; i--) {
    const uint64_t j = hash(seed + i) % i, x = p[i - 1];
    p[i - 1] = p[j];
    p[j] = x;
  }
  return p;
}

static inline void join(struct graph *g, uint64_t u, uint64_t v) {
  g->edge[g->edges++] = (struct pems_cgm_edge){u, v};
}

static inline void join_more(struct graph *g, enum form form) {
  const uint64_t n = g->nodes;
  const uint64_t some = n < 20 ? n : 20;
  for (uint64_t i = 0; n > 0 && form == DENSE && i < 12 * n; i++) {
    join(g, hash(i) % n, hash(i + n * n) % n);
  }
  for (uint64_t i = 0; i < n; i++) {
    if (form == CYCLES) { /* of 1 to 8 nodes */
      join(g, i, i % 8 == 7 || i + 1 == n ? i - i % 8 : i + 1);
    }
    if (form == SPARSE) {
      join(g, hash(i) % n, hash(i + n) % n);
    }
    if (form == MESS && i % 3 == 0) {
      join(g, i, hash(i) % (i + 1));
      join(g, hash(i) % (i + 1), i);
      join(g, i, i);
    }
    if (form == CORE) {
      join(g, hash(i) % some, hash(i + n) % some);
    }
  }
}

/* named: nodes in a random order; else in that of the form. Edges stand in a
   random order and direction. To be freed: edge. */
static inline struct graph make_graph(enum form form, uint64_t n, int named) {
  struct graph g = {.nodes = n};
  uint64_t *const name = permutation(n, named ? n : 0);
  g.edge = malloc((12 * n + 3) * sizeof(*g.edge));
  for (uint64_t i = 1; form < FORESTS && i < n; i++) {
    if (parent_in(form, n, i) != NONE) {
      join(&g, i, parent_in(form, n, i));
    }
  }
  join_more(&g, form);
  uint64_t *const order = permutation(g.edges, named ? n + 1 : 0);
  struct pems_cgm_edge *const edge = malloc((g.edges + 1) * sizeof(*edge));
  for (uint64_t i = 0; i < g.edges; i++) {
    const struct pems_cgm_edge e = g.edge[order[i]];
    const bool turned = named && hash(i) % 2;
    edge[i].u = name[turned ? e.v : e.u];
    edge[i].v = name[turned ? e.u : e.v];
  }
  free(g.edge);
  free(name);
  free(order);
  g.edge = edge;
  return g;
}

/* The smallest node of each node's component; to be freed. */
static inline uint64_t root_of(uint64_t *root, uint64_t i) {
  while (root[i] != i) {
    root[i] = root[root[i]];
    i = root[i];
  }
  return i;
}

static inline uint64_t *components_of(const struct graph *g) {
  uint64_t *const root = permutation(g->nodes, 0);
  for (uint64_t i = 0; i < g->edges; i++) {
    const uint64_t a = root_of(root, g->edge[i].u);
    const uint64_t b = root_of(root, g->edge[i].v);
    root[a > b ? a : b] = a > b ? b : a;
  }
  for (uint64_t i = 0; i < g->nodes; i++) {
    root[i] = root_of(root, i);
  }
  return root;
}

/* A forest's Euler tours, arc by arc; to be freed. Arcs that leave a node are
   taken in the order of their edges. */
static inline struct pems_cgm_arc *tours_of(const struct graph *g) {
  const uint64_t n = g->nodes, arcs = 2 * g->edges;
  struct pems_cgm_arc *const arc = malloc((arcs + 1) * sizeof(*arc));
  uint64_t *const first = malloc((n + 1) * sizeof(*first));
  uint64_t *const last = malloc((n + 1) * sizeof(*last));
  uint64_t *const after = malloc((arcs + 1) * sizeof(*after));
  uint64_t *const root = components_of(g);
  for (uint64_t i = 0; i < n; i++) {
    first[i] = last[i] = NONE;
  }
  for (uint64_t i = 0; i < arcs; i++) {
    const struct pems_cgm_edge e = g->edge[i / 2];
    arc[i].from = i % 2 ? e.v : e.u;
    arc[i].to = i % 2 ? e.u : e.v;
    after[i] = NONE;
    if (first[arc[i].from] == NONE) {
      first[arc[i].from] = i;
    } else {
      after[last[arc[i].from]] = i;
    }
    last[arc[i].from] = i;
  }
  for (uint64_t r = 0; r < n; r++) {
    if (root[r] != r || first[r] == NONE) {
      continue;
    }
    uint64_t i = first[r], position = 0;
    do {
      const uint64_t next =
          after[i ^ 1] != NONE ? after[i ^ 1] : first[arc[i].to];
      arc[i].root = r;
      arc[i].position = position++;
      arc[i].next = next == first[r] ? NONE : next;
      i = next;
    } while (i != first[r]);
  }
  free(first);
  free(last);
  free(after);
  free(root);
  return arc;
}

/* The rooted forest, from its tours; to be freed. */
static inline struct pems_cgm_node *nodes_of(const struct graph *g,
                                             const struct pems_cgm_arc *arc) {
  struct pems_cgm_node *const node = malloc((g->nodes + 1) * sizeof(*node));
  for (uint64_t i = 0; i < g->nodes; i++) {
    node[i] = (struct pems_cgm_node){NONE, i, 0, 0, 1};
  }
  for (uint64_t a = 0; a < 2 * g->edges; a++) {
    if (arc[a].position > 0) {
      continue;
    }
    uint64_t number = 0;
    for (uint64_t i = a; i != NONE; i = arc[i].next) {
      struct pems_cgm_node *const to = &node[arc[i].to];
      if (arc[i].position < arc[i ^ 1].position) {
        *to = (struct pems_cgm_node){arc[i].from, arc[i].root,
                                     node[arc[i].from].depth + 1, ++number, 1};
      } else {
        to->size += node[arc[i].from].size;
      }
    }
  }
  return node;
}

/* --- bounds --- */

static inline uint64_t supersteps(void) {
  struct pems_cgm_counts counts;
  pems_cgm_get_counts(machine, &counts);
  return counts.supersteps;
}

/* The least k with 2^k >= v. */
static inline uint64_t rounds(void) {
  uint64_t k = 0;
  while ((UINT64_C(1) << k) < (uint64_t)size) {
    k++;
  }
  return k;
}

static inline void check_supersteps(uint64_t before, uint64_t each,
                                    uint64_t once, const char *what) {
  const uint64_t took = supersteps() - before;
  if (getenv("VERBOSE") && rank == 0) {
    fprintf(stderr, "%s: v %d: %d supersteps\n", what, size, (int)took);
  }
  if (took > each * rounds() + once) {
    fail("%s: %d supersteps of %d ranks", what, (int)took, size);
  }
}

#endif
