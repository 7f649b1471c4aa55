/* A maximal independent set by time-forward processing: of those there are, the
   one that comes first if sets are ordered by their smallest nodes.

     independent_set [options] [GRAPH]

   The directions of edges mean nothing here but that each goes from a smaller
   node to a larger one: a node belongs to the set if no smaller neighbour does,
   and tells its larger neighbours (Zeh, I/O-Efficient Algorithms for Shortest
   Path Related Problems, 2002). A message says nothing but
   whom it is sent to. GRAPH is a file (see dag.h); without it a graph is made
   up. In the RESULT line `positive` is the number of nodes in the set. --verify
   checks with the set in memory that no two of it are neighbours, and that each
   other node has a smaller neighbour in it. */
#include <stdbool.h>
#include <stdlib.h>

#include "tfp_job.h"

#define USAGE "[options] [GRAPH]\nFinds a maximal independent set."

static int visit(void *arg, struct pems_tfp_visit *v,
                 struct pems_error *error) {
  const struct dag_edge *const out = v->edges;
  const bool chosen = v->received == 0;
  (void)arg;
  *(uint64_t *)v->result = (uint64_t)chosen;
  for (size_t i = 0; chosen && i < v->degree; i++) {
    if (pems_tfp_send(v, &out[i].to, 1, error)) {
      return error->code;
    }
  }
  return 0;
}

static int right(struct dag *dag, const uint64_t *chosen) {
  uint64_t *const covered = tfp_job_numbers(dag->nodes);
  struct dag_edge edge[1024];
  int good = 1;
  for (size_t n; (n = dag_read(dag, edge, 1024)) > 0;) {
    for (size_t i = 0; i < n; i++) {
      good &= !(chosen[edge[i].from] && chosen[edge[i].to]);
      covered[edge[i].to] |= chosen[edge[i].from];
    }
  }
  for (uint64_t node = 0; node < dag->nodes; node++) {
    good &= (int)(chosen[node] | covered[node]);
  }
  free(covered);
  return good;
}

int main(int argc, char **argv) {
  return tfp_job(argc, argv,
                 &(struct tfp_job){.name = "independent_set",
                                   .usage = USAGE,
                                   .message = sizeof(uint64_t),
                                   .visit = visit,
                                   .right = right});
}
