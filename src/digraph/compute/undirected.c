#include "digraph/compute/undirected.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT = 24 }; /* rows that are ordered by insertion */

static int by_weight(const void *a, const void *b) {
  const struct digraph_edge *const x = a, *const y = b;
  return (x->weight > y->weight) - (x->weight < y->weight);
}

static int by_node(const void *a, const void *b) {
  const struct digraph_edge *const x = a, *const y = b;
  return x->to != y->to ? (x->to > y->to) - (x->to < y->to) : by_weight(a, b);
}

void undirected_order(struct digraph_edge *edge, uint64_t n) {
  if (n > SHORT) {
    qsort(edge, n, sizeof(*edge), by_weight);
    return;
  }
  for (uint64_t i = 1; i < n; i++) {
    const struct digraph_edge e = edge[i];
    uint64_t at = i;
    for (; at > 0 && edge[at - 1].weight > e.weight; at--) {
      edge[at] = edge[at - 1];
    }
    edge[at] = e;
  }
}

void undirected_restore(struct undirected *u, uint64_t nodes) {
  for (uint64_t v = 0; v < nodes; v++) {
    struct digraph_edge *const row = u->edge + u->first[v];
    const uint64_t n = u->first[v + 1] - u->first[v];
    for (uint64_t i = 1; i < n; i++) {
      if (by_node(&row[i - 1], &row[i]) > 0) {
        qsort(row, n, sizeof(*row), by_node);
        break;
      }
    }
  }
}

/* Whether each edge is there in both directions. From nodes in order the edges
   to v come in the order of v's row, then. */
static bool symmetric(const struct undirected *u, uint64_t nodes,
                      uint64_t *next) {
  memcpy(next, u->first, nodes * sizeof(*next));
  for (uint64_t v = 0; v < nodes; v++) {
    for (uint64_t i = u->first[v]; i < u->first[v + 1]; i++) {
      const uint32_t to = u->edge[i].to;
      const uint64_t back = next[to]++;
      if (back == u->first[to + 1] || u->edge[back].to != v ||
          u->edge[back].weight != u->edge[i].weight) {
        return false;
      }
    }
  }
  return true; /* as many edges come to all nodes as leave them */
}

/* Both directions of all edges of g. */
static int add_reverse(struct undirected *u, const struct digraph *g) {
  struct undirected both = {
      .first = calloc(g->nodes + 2, sizeof(*both.first)),
      .edge = malloc((2 * g->edges + 1) * sizeof(*both.edge))};
  if (!both.first || !both.edge) {
    undirected_free(&both);
    return ENOMEM;
  }
  /* One further, so that filling in leaves the beginnings. */
  uint64_t *const count = both.first + 2, *const next = both.first + 1;
  for (uint64_t v = 0; v < g->nodes; v++) {
    count[v] += u->first[v + 1] - u->first[v];
    for (uint64_t i = u->first[v]; i < u->first[v + 1]; i++) {
      count[u->edge[i].to]++;
    }
  }
  for (uint64_t v = 0; v < g->nodes; v++) {
    next[v + 1] += next[v];
  }
  for (uint64_t v = 0; v < g->nodes; v++) {
    for (uint64_t i = u->first[v]; i < u->first[v + 1]; i++) {
      const struct digraph_edge e = u->edge[i];
      both.edge[next[v]++] = e;
      both.edge[next[e.to]++] = (struct digraph_edge){(uint32_t)v, e.weight};
    }
  }
  undirected_free(u);
  *u = both;
  undirected_restore(u, g->nodes);
  return 0;
}

int undirected_copy(struct undirected *u, const struct digraph *g) {
  uint64_t *const next = malloc((g->nodes + 1) * sizeof(*next));
  int code = 0;
  u->first = malloc((g->nodes + 1) * sizeof(*u->first));
  u->edge = malloc((g->edges + 1) * sizeof(*u->edge));
  if (next && u->first && u->edge) {
    memcpy(u->first, g->first, (g->nodes + 1) * sizeof(*u->first));
    if (g->edges) {
      memcpy(u->edge, g->edge, g->edges * sizeof(*u->edge));
    }
    undirected_restore(u, g->nodes);
    if (!symmetric(u, g->nodes, next)) {
      code = add_reverse(u, g);
    }
  } else {
    code = ENOMEM;
  }
  free(next);
  if (code) {
    undirected_free(u);
  }
  return code;
}

void undirected_free(struct undirected *u) {
  free(u->first);
  free(u->edge);
  *u = (struct undirected){0};
}
