#include "wrappers/graph/pems_graph_job_search.h"

#include <inttypes.h>
#include <stdlib.h>

void job_search(struct job *job, const struct search_options *o, uint64_t *dist,
                struct search_counts *counts) {
  struct search_counts once;
  struct pems_error error;
  if (search_distances(job->rows, &job->graph, o, dist, &once, &error)) {
    graph_options_fail(&error);
  }
  counts->rounds += once.rounds;
  counts->visited += once.visited;
}

void job_write_distances(struct job *job, const struct search_options *o,
                         const uint64_t *dist, struct graph_result *result) {
  const uint64_t nodes = job->graph.nodes;
  uint32_t *parent = NULL;
  struct pems_error error;
  if (job->parents) {
    parent = job_memory("parents", nodes, sizeof(*parent));
    if (search_parents(job->rows, &job->graph, o, dist, parent, &error)) {
      graph_options_fail(&error);
    }
  }
  for (uint64_t v = 0; v < nodes; v++) {
    const struct graph_value row[] = {
        {.kind = GRAPH_INDEX, .whole = v},
        {.kind = GRAPH_U64, .whole = dist[v]},
        {.kind = GRAPH_NODE, .whole = parent ? parent[v] : 0}};
    graph_result_row(result, row, parent ? 3 : 2);
  }
  free(parent);
}

void job_report_search(const struct job *job,
                       const struct search_counts *counts) {
  if (!job->graph.edge) {
    fprintf(job->told, " rounds=%" PRIu64 " visited=%" PRIu64, counts->rounds,
            counts->visited);
  }
}
