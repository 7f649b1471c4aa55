/* The longest path that ends at each node of a graph, edges being 1 to 1000
   long (dag_weight); by time-forward processing.

     longest_path [options] [GRAPH]

   GRAPH is a file (see dag.h); without it a graph is made up. In the RESULT
   line `most` is the length of the longest path of all, `sum` depends on those
   to all nodes. --verify compares them with a loop over all edges that has 8
   bytes per node in memory. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tfp_job.h"

#define USAGE "[options] [GRAPH]\nFinds the longest path to every node."

/* A path to `to` of that length. */
struct message {
  uint64_t to, length;
};

static int visit(void *arg, struct pems_tfp_visit *v,
                 struct pems_error *error) {
  const struct message *const in = v->messages;
  const struct dag_edge *const out = v->edges;
  uint64_t longest = 0;
  (void)arg;
  for (size_t i = 0; i < v->received; i++) {
    longest = in[i].length > longest ? in[i].length : longest;
  }
  *(uint64_t *)v->result = longest;
  for (size_t i = 0; i < v->degree; i++) {
    const struct message m = {out[i].to, longest + dag_weight(&out[i])};
    if (pems_tfp_send(v, &m, 1, error)) {
      return error->code;
    }
  }
  return 0;
}

static int right(struct dag *dag, const uint64_t *number) {
  uint64_t *const longest = tfp_job_numbers(dag->nodes);
  struct dag_edge edge[1024];
  for (size_t n; (n = dag_read(dag, edge, 1024)) > 0;) {
    for (size_t i = 0; i < n; i++) {
      const uint64_t length = longest[edge[i].from] + dag_weight(&edge[i]);
      if (length > longest[edge[i].to]) {
        longest[edge[i].to] = length;
      }
    }
  }
  const bool same = memcmp(longest, number, dag->nodes * sizeof(*number)) == 0;
  free(longest);
  return same;
}

int main(int argc, char **argv) {
  return tfp_job(argc, argv,
                 &(struct tfp_job){.name = "longest_path",
                                   .usage = USAGE,
                                   .message = sizeof(struct message),
                                   .visit = visit,
                                   .right = right});
}
