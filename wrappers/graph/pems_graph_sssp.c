/* Shortest paths from one node to all others.

     pems-graph sssp [options] GRAPH | --generate SPEC

   A task is a node and the distance that it was given, which is its priority:
   it offers each neighbour a path through the node. Run in strict order this is
   Dijkstra's algorithm, with --sched obim --delta D delta-stepping; in any
   order the result is the same, but nodes are visited more often. A task whose
   node has found a shorter path meanwhile is useless. --verify compares all
   distances with Dijkstra's. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "digraph/compute/reference.h"
#include "digraph/compute/search.h"
#include "wrappers/graph/pems_graph_commands.h"
#include "wrappers/graph/pems_graph_job.h"
#include "wrappers/graph/pems_graph_job_search.h"

#define USAGE                                                                  \
  "[options] GRAPH | --generate SPEC\n"                                        \
  "Finds the shortest paths from one node to all others."

struct sssp {
  struct job_paths paths;
  const uint64_t *first;
  const struct digraph_edge *edge;
  _Atomic uint64_t *dist;
  uint64_t *right; /* with --verify */
};

static enum pems_sched_work run(void *arg, struct pems_sched_handle *handle,
                                const void *task, uint64_t priority) {
  enum { AHEAD = 12 };
  const struct sssp *const s = arg;
  const uint32_t from = job_task(task);
  if (atomic_load_explicit(&s->dist[from], memory_order_relaxed) < priority) {
    return PEMS_SCHED_USELESS;
  }
  const struct digraph_edge *e = s->edge + s->first[from];
  const struct digraph_edge *const end = s->edge + s->first[from + 1];
  /* All that the row needs is on its way before the first branch waits. */
  for (int i = 0; i < AHEAD && e + i < end; i++) {
    __builtin_prefetch((const void *)&s->dist[e[i].to], 1);
  }
  for (; e < end; e++) {
    if (end - e > AHEAD) {
      __builtin_prefetch((const void *)&s->dist[e[AHEAD].to], 1);
    }
    const uint64_t dist = priority + e->weight;
    if (job_shorten(&s->dist[e->to], dist)) {
      job_push(handle, e->to, dist);
    }
  }
  return PEMS_SCHED_GOOD;
}

static void ahead(void *arg, const void *task, int step) {
  const struct sssp *const s = arg;
  const uint32_t node = job_task(task);
  if (step == 0) {
    __builtin_prefetch((const void *)&s->dist[node]);
    __builtin_prefetch(&s->first[node]);
  } else {
    __builtin_prefetch(s->edge + s->first[node]);
  }
}

static void prepare(struct job *job, void *state) {
  struct sssp *const s = state;
  const uint64_t nodes = job->graph.nodes;
  s->paths.source = job_node(job, "source", s->paths.given);
  s->first = job->graph.first;
  s->edge = job->graph.edge;
  s->dist = job_memory(s->paths.what, nodes, sizeof(*s->dist));
  if (!job->verify) {
    return;
  }
  s->right = job_memory("--verify", nodes, sizeof(*s->right));
  uint64_t settled;
  if (reference_distances(&job->graph, s->paths.source, s->right, &settled)) {
    job_fail("no memory for --verify: leave it out");
  }
}

static void reset(struct job *job, void *state) {
  struct sssp *const s = state;
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    atomic_init(&s->dist[v], REFERENCE_FAR);
  }
}

static void begin(struct job *job, void *state) {
  struct sssp *const s = state;
  atomic_init(&s->dist[s->paths.source], 0);
  job_push(pems_sched_handle(job->sched, 0), s->paths.source, 0);
}

static void check(struct job *job, void *state) {
  struct sssp *const s = state;
  s->paths.reached = 0;
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    const uint64_t dist =
        atomic_load_explicit(&s->dist[v], memory_order_relaxed);
    s->paths.reached += dist != REFERENCE_FAR;
    if (s->right && dist != s->right[v]) {
      job_differ(job, "node %" PRIu64 " has distance %" PRIu64 ", not %" PRIu64,
                 v, dist, s->right[v]);
    }
  }
  job->best += s->paths.reached; /* Dijkstra settles each once */
}

/* Nothing runs any more: the distances are plain numbers. */
static void write_all(struct job *job, void *state, struct graph_result *r) {
  struct sssp *const s = state;
  const uint64_t nodes = job->graph.nodes;
  if (!s->paths.found) {
    s->paths.found = job_memory(s->paths.what, nodes, sizeof(*s->paths.found));
    for (uint64_t v = 0; v < nodes; v++) {
      s->paths.found[v] =
          atomic_load_explicit(&s->dist[v], memory_order_relaxed);
    }
  }
  job_paths_write(job, s, r);
}

static void end(void *state) {
  struct sssp *const s = state;
  free(s->dist);
  free(s->right);
  free(s->paths.found);
}

int graph_sssp(int argc, char **argv) {
  struct sssp s = {.paths = {.what = "distances", .given = JOB_ANY}};
  const struct graph_option own[] = {JOB_PATHS_SOURCE(&s.paths), {0}};
  const struct job_program program = {.name = "sssp",
                                      .usage = USAGE,
                                      .option = own,
                                      .task = sizeof(uint32_t),
                                      .run = run,
                                      .ahead = ahead,
                                      .state = &s,
                                      .prepare = prepare,
                                      .reset = reset,
                                      .begin = begin,
                                      .check = check,
                                      .report = job_paths_report,
                                      .external = job_paths_external,
                                      .columns = "node,distance",
                                      .columns_with_parents =
                                          "node,distance,parent",
                                      .write = write_all,
                                      .copies = 1,
                                      .node_bytes = JOB_SEARCH_BYTES,
                                      .end = end};
  return job_main(argc, argv, &program);
}
