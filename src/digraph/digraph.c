#define _GNU_SOURCE
#include "digraph/digraph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  CACHE_LINE = 64,
  HUGE_PAGE = 2 << 20,
};

int digraph_failure(struct pems_error *error, int code, const char *format,
                    ...) {
  if (error) {
    va_list list;
    error->code = code;
    va_start(list, format);
    vsnprintf(error->text, sizeof(error->text), format, list);
    va_end(list);
  }
  return code;
}

/* --- memory --- */

void *digraph_memory(uint64_t bytes, struct pems_error *error) {
  const size_t unit = bytes < HUGE_PAGE ? CACHE_LINE : HUGE_PAGE;
  void *memory = NULL;
  if (bytes <= SIZE_MAX - unit) {
    memory = aligned_alloc(unit, (bytes / unit + 1) * unit);
  }
  if (!memory) {
    digraph_failure(error, ENOMEM,
                    "no memory for a graph: %" PRIu64
                    " bytes: give the machine more, or take a smaller graph",
                    bytes);
  } else if (unit == HUGE_PAGE) {
    madvise(memory, bytes, MADV_HUGEPAGE); /* only faster, so it may fail */
  }
  return memory;
}

void digraph_free(struct digraph *g) {
  for (int i = 0; i < 3; i++) {
    free(g->memory[i]);
  }
  if (g->map) {
    munmap(g->map, g->mapped);
  }
  *g = (struct digraph){0};
}

int digraph_allocate(struct digraph *g, uint64_t nodes, uint64_t edges,
                     int places, struct pems_error *error) {
  *g = (struct digraph){.nodes = nodes, .edges = edges};
  if (nodes > UINT32_MAX) {
    return digraph_failure(error, EINVAL,
                           "too many nodes: %" PRIu64 ": at most %" PRIu32,
                           nodes, UINT32_MAX);
  }
  if (edges > SIZE_MAX / sizeof(struct digraph_edge) - HUGE_PAGE) {
    return digraph_failure(error, ENOMEM,
                           "too many edges: %" PRIu64 ": take less", edges);
  }
  const uint64_t bytes[3] = {
      (nodes + 1) * sizeof(*g->first),
      edges * sizeof(*g->edge),
      places ? nodes * sizeof(*g->place) : 0,
  };
  for (int i = 0; i < 2 + (places != 0); i++) {
    g->memory[i] = digraph_memory(bytes[i], error);
    if (!g->memory[i]) {
      digraph_free(g);
      return ENOMEM;
    }
  }
  memset(g->memory[0], 0, bytes[0]);
  g->first = g->memory[0];
  g->edge = g->memory[1];
  g->place = g->memory[2];
  return 0;
}

/* --- from arcs: a counting sort --- */

struct arcs {
  uint64_t n;
  digraph_arc_at *at;
  void *arg;
  int both;
};

/* Arcs in random order touch memory at random: so they are dealt with by
   batches, in which what one touches is on its way while others are. */
enum { BATCH = 64 };

struct batch {
  size_t n;
  struct digraph_arc arc[2 * BATCH]; /* with reverses */
};

/* The next ones, from arc i on: up to BATCH of them. */
static void fetch(const struct arcs *a, uint64_t i, struct batch *b,
                  const uint64_t *first) {
  const uint64_t end = a->n - i < BATCH ? a->n : i + BATCH;
  b->n = 0;
  for (; i < end; i++) {
    const struct digraph_arc arc = a->at(a->arg, i);
    __builtin_prefetch(&first[arc.from + 1ull], 1);
    b->arc[b->n++] = arc;
    if (a->both && arc.from != arc.to) {
      __builtin_prefetch(&first[arc.to + 1ull], 1);
      b->arc[b->n++] = (struct digraph_arc){arc.to, arc.from, arc.weight};
    }
  }
}

/* In first[v + 2], how many edges begin at v: two further on, so that first[v
   + 1] is where the next one goes while they are placed, and where v ends when
   they are. The last node's count has no place; none is needed. */
static uint64_t count(uint64_t *first, uint64_t nodes, const struct arcs *a) {
  struct batch b;
  uint64_t edges = 0;
  for (uint64_t i = 0; i < a->n; i += BATCH) {
    fetch(a, i, &b, first);
    for (size_t k = 0; k < b.n; k++) {
      if (b.arc[k].from + 2ull <= nodes) {
        first[b.arc[k].from + 2ull]++;
      }
    }
    edges += b.n;
  }
  return edges;
}

static void add_up(uint64_t *first, uint64_t nodes) {
  for (uint64_t v = 2; v <= nodes; v++) {
    first[v] += first[v - 1];
  }
}

static void place(uint64_t *first, struct digraph_edge *edge,
                  const struct arcs *a) {
  struct batch b;
  uint64_t at[2 * BATCH];
  for (uint64_t i = 0; i < a->n; i += BATCH) {
    fetch(a, i, &b, first);
    for (size_t k = 0; k < b.n; k++) {
      at[k] = first[b.arc[k].from + 1ull]++;
      __builtin_prefetch(&edge[at[k]], 1);
    }
    for (size_t k = 0; k < b.n; k++) {
      edge[at[k]] = (struct digraph_edge){b.arc[k].to, b.arc[k].weight};
    }
  }
}

int digraph_build(struct digraph *g, uint64_t nodes, uint64_t arcs,
                  digraph_arc_at *arc_at, void *arg, int both,
                  struct pems_error *error) {
  const struct arcs a = {arcs, arc_at, arg, both};
  *g = (struct digraph){0};
  if (arcs >> 48) {
    return digraph_failure(
        error, EINVAL, "too many arcs: %" PRIu64 ": give less than 2^48", arcs);
  }
  int code = digraph_allocate(g, nodes, 0, 0, error);
  if (code) {
    return code;
  }
  g->edges = count(g->memory[0], nodes, &a);
  add_up(g->memory[0], nodes);
  free(g->memory[1]);
  g->memory[1] = digraph_memory(g->edges * sizeof(*g->edge), error);
  if (!g->memory[1]) {
    digraph_free(g);
    return ENOMEM;
  }
  g->edge = g->memory[1];
  place(g->memory[0], g->memory[1], &a);
  return 0;
}

static struct digraph_arc list_at(void *arg, uint64_t i) {
  return ((const struct digraph_arc *)arg)[i];
}

int digraph_from_edges(struct digraph *g, uint64_t nodes,
                       const struct digraph_arc *arcs, uint64_t n, int both,
                       struct pems_error *error) {
  return digraph_build(g, nodes, n, list_at, (void *)(uintptr_t)arcs, both,
                       error);
}

struct turning {
  const struct digraph *g;
  uint64_t v; /* where the arc begins that was asked for last */
};

static struct digraph_arc turned_at(void *arg, uint64_t i) {
  struct turning *const t = arg;
  if (i == 0) {
    t->v = 0;
  }
  while (i >= t->g->first[t->v + 1]) {
    t->v++;
  }
  return (struct digraph_arc){t->g->edge[i].to, (uint32_t)t->v,
                              t->g->edge[i].weight};
}

int digraph_transpose(const struct digraph *g, struct digraph *turned,
                      struct pems_error *error) {
  struct turning t = {.g = g};
  return digraph_build(turned, g->nodes, g->edges, turned_at, &t, 0, error);
}

/* --- components --- */

uint32_t digraph_set_find(uint32_t *parent, uint32_t node) {
  while (parent[node] != node) {
    parent[node] = parent[parent[node]];
    node = parent[node];
  }
  return node;
}

void digraph_set_join(uint32_t *parent, uint32_t a, uint32_t b) {
  a = digraph_set_find(parent, a);
  b = digraph_set_find(parent, b);
  if (a < b) {
    parent[b] = a;
  } else {
    parent[a] = b;
  }
}

/* Parents are less than their children, so one pass in order finds all. */
static void measure(uint32_t *parent, uint32_t *size, uint64_t nodes,
                    struct digraph_components *found) {
  for (uint64_t v = 0; v < nodes; v++) {
    size[v] = 0;
    parent[v] = parent[parent[v]];
    found->count += parent[v] == v;
    if (++size[parent[v]] > found->largest) {
      found->largest = size[parent[v]];
    }
  }
}

int digraph_components(const struct digraph *g,
                       struct digraph_components *found,
                       struct pems_error *error) {
  const uint64_t bytes = g->nodes * sizeof(uint32_t);
  uint32_t *const parent = digraph_memory(bytes, error);
  uint32_t *const size = parent ? digraph_memory(bytes, error) : NULL;
  *found = (struct digraph_components){0};
  if (size) {
    for (uint64_t v = 0; v < g->nodes; v++) {
      parent[v] = (uint32_t)v;
    }
    for (uint64_t v = 0; v < g->nodes; v++) {
      for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
        digraph_set_join(parent, (uint32_t)v, g->edge[i].to);
      }
    }
    measure(parent, size, g->nodes, found);
  }
  free(parent);
  free(size);
  return size ? 0 : ENOMEM;
}
