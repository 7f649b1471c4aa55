#include "digraph/compute/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- distances --- */

struct search {
  const struct digraph *g;
  const struct search_options *o;
  uint64_t *dist;
  uint64_t *now, *later; /* nodes to visit: with keys below `limit`; others */
  uint64_t limit, step;
  struct search_counts counts;
};

uint64_t search_memory(uint64_t nodes) {
  return 2 * rows_set_words(nodes) * sizeof(uint64_t);
}

static uint64_t key_of(const struct search *s, uint32_t node) {
  return s->dist[node] + (s->o->guess ? s->o->guess(s->o->arg, node) : 0);
}

static void visit(void *arg, uint32_t node, const struct digraph_edge *edge,
                  uint64_t n) {
  struct search *const s = arg;
  const uint64_t from = s->dist[node];
  s->counts.visited++;
  for (uint64_t i = 0; i < n; i++) {
    const uint32_t to = edge[i].to;
    const uint64_t dist = from + (s->o->unit ? 1 : edge[i].weight);
    if (dist >= s->dist[to]) {
      continue;
    }
    s->dist[to] = dist;
    if (key_of(s, to) < s->limit) {
      rows_set_add(s->now, to);
    } else {
      rows_set_add(s->later, to);
    }
  }
}

/* The least key of those that wait, SEARCH_FAR if none does. */
static uint64_t least_key(const struct search *s) {
  uint64_t least = SEARCH_FAR;
  for (uint64_t v = 0;
       (v = rows_set_next(s->later, v, s->g->nodes)) < s->g->nodes; v++) {
    const uint64_t key = key_of(s, (uint32_t)v);
    least = key < least ? key : least;
  }
  return least;
}

/* Those below the limit are next. */
static void move(struct search *s) {
  for (uint64_t v = 0;
       (v = rows_set_next(s->later, v, s->g->nodes)) < s->g->nodes; v++) {
    if (key_of(s, (uint32_t)v) < s->limit) {
      rows_set_remove(s->later, v);
      rows_set_add(s->now, v);
    }
  }
}

static bool any(const struct search *s) {
  return rows_set_next(s->now, 0, s->g->nodes) < s->g->nodes;
}

/* A round that reads little is not worth its way through the rows: the next
   goes further. One that goes through them often goes too far. */
static void adapt(struct search *s, uint64_t sweeps, uint64_t visited) {
  enum { SWEEPS_MOST = 12, LEAST = 4096, SHARE = 64 };
  if (visited < LEAST + s->g->nodes / SHARE) {
    s->step = s->step < SEARCH_FAR / 4 ? 2 * s->step : s->step;
  } else if (sweeps > SWEEPS_MOST && s->step > 1) {
    s->step /= 2;
  }
}

static int round_of(struct search *s, struct rows *rows,
                    struct pems_error *error) {
  const uint64_t before = s->counts.visited;
  uint64_t sweeps = 0;
  move(s);
  while (any(s)) {
    const int code = rows_sweep(rows, s->now, visit, s, error);
    if (code) {
      return code;
    }
    sweeps++;
  }
  s->counts.rounds++;
  adapt(s, sweeps, s->counts.visited - before);
  return 0;
}

static int run(struct search *s, struct rows *rows, struct pems_error *error) {
  s->dist[s->o->source] = 0;
  rows_set_add(s->later, s->o->source);
  s->step = 1;
  for (uint64_t least; (least = least_key(s)) != SEARCH_FAR;) {
    if (s->o->guess && least >= s->dist[s->o->target]) {
      return 0; /* nothing that waits can make that less */
    }
    s->limit = least < SEARCH_FAR - s->step ? least + s->step : SEARCH_FAR;
    const int code = round_of(s, rows, error);
    if (code) {
      return code;
    }
  }
  return 0;
}

int search_distances(struct rows *rows, const struct digraph *g,
                     const struct search_options *o, uint64_t *dist,
                     struct search_counts *counts, struct pems_error *error) {
  const uint64_t words = rows_set_words(g->nodes);
  struct search s = {.g = g,
                     .o = o,
                     .dist = dist,
                     .now = calloc(words, sizeof(uint64_t)),
                     .later = calloc(words, sizeof(uint64_t))};
  int code = 0;
  for (uint64_t v = 0; v < g->nodes; v++) {
    dist[v] = SEARCH_FAR;
  }
  if (s.now && s.later) {
    code = run(&s, rows, error);
  } else {
    code = digraph_failure(error, ENOMEM, "no memory for a search: free some");
  }
  free(s.now);
  free(s.later);
  *counts = s.counts;
  return code;
}

/* --- parents --- */

struct family {
  const struct search_options *o;
  const uint64_t *dist;
  uint32_t *parent;
  uint64_t *level; /* whose edges of length 0 are to be followed */
  bool zeros;      /* some are 0 long */
};

static bool known(const struct family *f, uint32_t node) {
  return node == f->o->source || f->parent[node] != SEARCH_NOBODY;
}

/* Only from nodes that are nearer: no circle can come of that. */
static void adopt(void *arg, uint32_t node, const struct digraph_edge *edge,
                  uint64_t n) {
  struct family *const f = arg;
  const uint64_t from = f->dist[node];
  if (from == SEARCH_FAR) {
    return;
  }
  for (uint64_t i = 0; i < n; i++) {
    const uint32_t to = edge[i].to;
    const uint64_t weight = f->o->unit ? 1 : edge[i].weight;
    if (from + weight != f->dist[to] || known(f, to)) {
      continue; /* nodes come in order, so the first one is the least */
    }
    if (weight) {
      f->parent[to] = node;
    } else {
      f->zeros = true;
    }
  }
}

/* A node whose way on is known passes that on. */
static void adopt_zeros(void *arg, uint32_t node,
                        const struct digraph_edge *edge, uint64_t n) {
  struct family *const f = arg;
  for (uint64_t i = 0; i < n; i++) {
    const uint32_t to = edge[i].to;
    if (edge[i].weight == 0 && f->dist[to] == f->dist[node] && !known(f, to)) {
      f->parent[to] = node;
      rows_set_add(f->level, to);
    }
  }
}

static int follow_zeros(struct family *f, struct rows *rows, uint64_t nodes,
                        struct pems_error *error) {
  f->level = calloc(rows_set_words(nodes), sizeof(uint64_t));
  if (!f->level) {
    return digraph_failure(error, ENOMEM, "no memory for parents: free some");
  }
  int code = 0;
  for (uint64_t v = 0; v < nodes; v++) {
    if (known(f, (uint32_t)v)) {
      rows_set_add(f->level, v);
    }
  }
  while (!code && rows_set_next(f->level, 0, nodes) < nodes) {
    code = rows_sweep(rows, f->level, adopt_zeros, f, error);
  }
  free(f->level);
  return code;
}

int search_parents(struct rows *rows, const struct digraph *g,
                   const struct search_options *o, const uint64_t *dist,
                   uint32_t *parent, struct pems_error *error) {
  struct family f = {.o = o, .dist = dist, .parent = parent};
  for (uint64_t v = 0; v < g->nodes; v++) {
    parent[v] = SEARCH_NOBODY;
  }
  const int code = rows_sweep(rows, NULL, adopt, &f, error);
  return code || !f.zeros ? code : follow_zeros(&f, rows, g->nodes, error);
}
