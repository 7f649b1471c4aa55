#include "suffix_job.h"

struct pems_graph *suffix_graph(const struct suffix_job *job) {
  return pems_graph_new(&(struct pems_graph_options){
      .memory = job->memory / 2, .threads = job->threads, .disks = job->disks});
}

struct pems_node *suffix_sort_node(struct pems_graph *graph, const char *name,
                                   struct packed format, uint64_t count) {
  return pems_node_sorter(graph, name,
                          &(struct pems_sort_options){
                              .record = packed_record(format), .count = count});
}

int suffix_sorter_new(struct suffix_job *job, struct packed format,
                      uint64_t count, struct pems_sorter **sorter,
                      struct pems_error *error) {
  const struct pems_sort_options options = {.record = packed_record(format),
                                            .memory = job->memory / 2,
                                            .threads = job->threads,
                                            .disks = job->disks,
                                            .count = count};
  return pems_sorter_new(sorter, &options, error);
}

void suffix_sorter_free(struct suffix_job *job, struct pems_sorter *sorter) {
  struct pems_sort_counts counts;
  if (!sorter) {
    return;
  }
  pems_sorter_counts(sorter, &counts);
  job->sorts++;
  if (counts.passes > 0 && counts.runs > job->runs) {
    job->runs = counts.runs;
  }
  pems_sorter_free(sorter);
}

void suffix_pull(const struct suffix_job *job, struct pems_graph *graph,
                 struct pems_node *from, struct pems_node *to) {
  if (job->async) {
    struct pems_node *const between = pems_node_async_pull(graph, NULL, 0);
    pems_edge_pull(from, between);
    from = between;
  }
  pems_edge_pull(from, to);
}

int suffix_run(struct pems_graph *graph, struct pems_node *primary_sink,
               struct pems_error *error) {
  const int failed = pems_graph_start(graph, primary_sink, error);
  pems_graph_free(graph);
  return failed;
}
