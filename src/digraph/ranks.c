#include "digraph/ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct ranks {
  const struct digraph *g;
  double damping;
  double *rank, *next;
};

static void visit(void *arg, uint32_t node, const struct digraph_edge *edge,
                  uint64_t n) {
  const struct ranks *const r = arg;
  const uint64_t edges = r->g->first[node + 1ull] - r->g->first[node];
  const double share = r->damping * r->rank[node] / (double)edges;
  for (uint64_t i = 0; i < n; i++) {
    r->next[edge[i].to] += share;
  }
}

uint64_t ranks_memory(uint64_t nodes) {
  return nodes * sizeof(double);
}

/* The largest change; the ranks are the next ones then, unless it was small
   enough: those are the ranks whose error is known. */
static double take_over(struct ranks *r, double epsilon) {
  double most = 0;
  for (uint64_t v = 0; v < r->g->nodes; v++) {
    most = fmax(most, fabs(r->next[v] - r->rank[v]));
  }
  for (uint64_t v = 0; v < r->g->nodes && most > epsilon; v++) {
    r->rank[v] = r->next[v];
  }
  return most;
}

int ranks_of_rows(struct rows *rows, const struct digraph *g, double damping,
                  double epsilon, double *rank, uint64_t *rounds,
                  struct pems_error *error) {
  struct ranks r = {.g = g, .damping = damping, .rank = rank};
  double change = INFINITY;
  int code = 0;
  *rounds = 0;
  r.next = digraph_memory(g->nodes * sizeof(*r.next), error);
  if (!r.next) {
    return ENOMEM;
  }
  for (uint64_t v = 0; v < g->nodes; v++) {
    rank[v] = 1 - damping;
  }
  while (!code && change > epsilon) {
    for (uint64_t v = 0; v < g->nodes; v++) {
      r.next[v] = 1 - damping;
    }
    code = rows_sweep(rows, NULL, visit, &r, error);
    change = take_over(&r, epsilon);
    ++*rounds;
  }
  free(r.next);
  return code;
}
