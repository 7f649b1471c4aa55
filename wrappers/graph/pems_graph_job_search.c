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

static struct search_options options_of(const struct job_paths *paths) {
  return (struct search_options){.source = paths->source, .unit = paths->unit};
}

void job_paths_external(struct job *job, void *state) {
  struct job_paths *const paths = state;
  const uint64_t nodes = job->graph.nodes;
  paths->source = job_node(job, "source", paths->given);
  const struct search_options o = options_of(paths);
  paths->found = job_memory(paths->what, nodes, sizeof(*paths->found));
  job_search(job, &o, paths->found, &paths->counts);
  for (uint64_t v = 0; v < nodes; v++) {
    paths->reached += paths->found[v] != SEARCH_FAR;
  }
}

void job_paths_write(struct job *job, void *state,
                     struct graph_result *result) {
  const struct job_paths *const paths = state;
  const uint64_t nodes = job->graph.nodes;
  const struct search_options o = options_of(paths);
  uint32_t *parent = NULL;
  struct pems_error error;
  if (job->parents) {
    parent = job_memory("parents", nodes, sizeof(*parent));
    if (search_parents(job->rows, &job->graph, &o, paths->found, parent,
                       &error)) {
      graph_options_fail(&error);
    }
  }
  for (uint64_t v = 0; v < nodes; v++) {
    const struct graph_value row[] = {
        {.kind = GRAPH_INDEX, .whole = v},
        {.kind = GRAPH_U64, .whole = paths->found[v]},
        {.kind = GRAPH_NODE, .whole = parent ? parent[v] : 0}};
    graph_result_row(result, row, parent ? 3 : 2);
  }
  free(parent);
}

void job_paths_report(const struct job *job, void *state) {
  const struct job_paths *const paths = state;
  fprintf(job->told, " source=%" PRIu32 " reached=%" PRIu64, paths->source,
          paths->reached);
  if (!job->graph.edge) {
    fprintf(job->told, " rounds=%" PRIu64 " visited=%" PRIu64,
            paths->counts.rounds, paths->counts.visited);
  }
}
