/* A minimum spanning tree (a forest where the graph is not connected). Edges
   lead both ways.

     pems-graph mst [options] GRAPH | --generate SPEC

   Without --sched by Kruskal's algorithm, wherever the edges are (see
   digraph/compute/forest.h). With it, by Boruvka's: a task is a component, at
   first a node: it merges the component with that at the other end of its
   lightest edge, and schedules one for the result. Its priority is the number
   of edges that the component has, so small ones grow first. A lightest edge
   that leaves a component belongs to a minimum tree that has all edges taken
   before, whichever it is of several: so the weight is the same in any order,
   and --verify compares it with Kruskal's. A task whose component was merged by
   another one meanwhile is useless, and so is one whose neighbour is busy: it
   is pushed again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "digraph/compute/boruvka.h"
#include "digraph/compute/forest.h"
#include "digraph/compute/reference.h"
#include "wrappers/graph/pems_graph_commands.h"
#include "wrappers/graph/pems_graph_job.h"

#define USAGE                                                                  \
  "[options] GRAPH | --generate SPEC\n"                                        \
  "Finds a minimum spanning tree, or forest."

struct task {
  uint32_t root, stamp;
};

/* What one thread has found; a cache line of its own. */
struct found {
  _Alignas(64) uint64_t weight;
  uint64_t edges;
};

struct mst {
  struct undirected graph;
  struct boruvka b;
  struct found *found; /* of each thread */
  struct found all;
  struct found right; /* with --verify */
  struct digraph_arc
      *taken; /* with --output: the forest's edges, and how many */
  uint64_t count;
};

static enum pems_sched_work run(void *arg, struct pems_sched_handle *handle,
                                const void *task, uint64_t priority) {
  struct mst *const s = arg;
  struct found *const found = &s->found[pems_sched_thread(handle)];
  struct task t = *(const struct task *)task;
  uint64_t degree;
  switch (boruvka_merge(&s->b, &t.root, &t.stamp, &degree, &found->weight)) {
  case BORUVKA_MERGED:
    found->edges++;
    (void)pems_sched_push(handle, &t, degree);
    return PEMS_SCHED_GOOD;
  case BORUVKA_ALONE:
    return PEMS_SCHED_GOOD;
  case BORUVKA_BUSY:
    (void)pems_sched_push(handle, task, priority);
    return PEMS_SCHED_USELESS;
  case BORUVKA_STALE:
    break;
  }
  return PEMS_SCHED_USELESS;
}

static void ahead(void *arg, const void *task, int step) {
  const struct mst *const s = arg;
  const uint32_t root = ((const struct task *)task)->root;
  if (step == 0) {
    __builtin_prefetch(&s->b.node[root], 1);
    __builtin_prefetch(&s->b.first[root]);
  } else {
    __builtin_prefetch(&s->b.edge[s->b.first[root]], 1);
  }
}

static void prepare(struct job *job, void *state) {
  struct mst *const s = state;
  const struct digraph *const g = &job->graph;
  if (undirected_copy(&s->graph, g)) {
    job_fail("no memory for both directions of the edges: take a smaller "
             "graph");
  }
  s->b = (struct boruvka){
      .nodes = g->nodes,
      .first = s->graph.first,
      .edge = s->graph.edge,
      .node = job_memory("components", g->nodes, sizeof(*s->b.node))};
  if (job->output) {
    s->taken = job_memory("the forest", g->nodes, sizeof(*s->taken));
    s->b.taken = s->taken;
  }
  s->found = job_memory("sums", (uint64_t)pems_sched_threads(job->sched),
                        sizeof(*s->found));
}

static void reset(struct job *job, void *state) {
  struct mst *const s = state;
  for (int i = 0; i < pems_sched_threads(job->sched); i++) {
    s->found[i] = (struct found){0};
  }
  undirected_restore(&s->graph, s->b.nodes); /* each repetition orders them */
  boruvka_reset(&s->b);
}

static void begin(struct job *job, void *state) {
  const struct mst *const s = state;
  const int p = pems_sched_threads(job->sched);
  const uint64_t share = s->b.nodes / (uint64_t)p + 1;
  for (uint64_t v = 0; v < s->b.nodes; v++) {
    const struct task t = {(uint32_t)v, 0};
    (void)pems_sched_push(pems_sched_handle(job->sched, (int)(v / share)), &t,
                          s->b.first[v + 1] - s->b.first[v]);
  }
}

static void compare(const struct job *job, struct mst *s) {
  if (!s->right.edges &&
      reference_forest(&job->graph, &s->right.weight, &s->right.edges)) {
    job_fail("no memory for --verify: leave it out");
  }
  if (s->all.weight != s->right.weight || s->all.edges != s->right.edges) {
    job_differ(job,
               "%" PRIu64 " edges of weight %" PRIu64 ", not %" PRIu64
               " of %" PRIu64,
               s->all.edges, s->all.weight, s->right.edges, s->right.weight);
  }
}

static void check(struct job *job, void *state) {
  struct mst *const s = state;
  if (!job->swept) {
    s->all = (struct found){0};
    for (int i = 0; i < pems_sched_threads(job->sched); i++) {
      s->all.weight += s->found[i].weight;
      s->all.edges += s->found[i].edges;
    }
  }
  if (job->verify) {
    compare(job, s);
  }
  /* One for each node, and one for the result of each merge. */
  job->best += job->graph.nodes + s->all.edges;
}

/* No more edges than nodes. */
static int keep(void *arg, const struct digraph_arc *arc) {
  struct mst *const s = arg;
  s->taken[s->count++] = *arc;
  return 0;
}

/* Bytes that the sorter is not given; edges in memory are always there. */
static uint64_t memory_of_others(const struct job *job) {
  const struct digraph *const g = &job->graph;
  const uint64_t nodes =
      g->nodes * (sizeof(*g->first) + sizeof(struct digraph_arc)) +
      forest_memory(g->nodes) + 2 * ROWS_MEMORY;
  const uint64_t all = nodes + (g->edge ? g->edges * sizeof(*g->edge) : 0);
  if (g->edge && all >= job->machine.memory) {
    job_fail("--memory: %" PRIu64 " bytes: %" PRIu64 " nodes and %" PRIu64
             " edges need more than %" PRIu64 "M: give that, or make a .csr",
             job->machine.memory, g->nodes, g->edges, all >> 20);
  }
  return all;
}

static void external(struct job *job, void *state) {
  struct mst *const s = state;
  const uint64_t nodes = job->graph.nodes;
  const struct pems_sort_options machine =
      job_sorter(job, memory_of_others(job));
  struct pems_error error;
  if (!s->taken) {
    s->taken = job_memory("the forest", nodes, sizeof(*s->taken));
  }
  s->count = 0;
  if (forest_of_rows(job->rows, &job->graph, &machine, keep, s, &s->all.weight,
                     &s->all.edges, &error)) {
    graph_options_fail(&error);
  }
}

static void write_all(struct job *job, void *state, struct graph_result *r) {
  struct mst *const s = state;
  for (uint64_t v = 0; v < job->graph.nodes && s->b.nodes; v++) {
    /* What is a root at the end was merged into no other. */
    if (atomic_load_explicit(&s->b.node[v].parent, memory_order_relaxed) != v) {
      s->taken[s->count++] = s->taken[v];
    }
  }
  for (uint64_t i = 0; i < s->count; i++) {
    const struct digraph_arc *const arc = &s->taken[i];
    const struct graph_value row[] = {
        {.kind = GRAPH_U32, .whole = arc->from},
        {.kind = GRAPH_U32, .whole = arc->to},
        {.kind = GRAPH_U32, .whole = arc->weight}};
    graph_result_row(r, row, 3);
  }
}

static void report(const struct job *job, void *state) {
  const struct mst *const s = state;
  fprintf(job->told, " weight=%" PRIu64 " trees=%" PRIu64, s->all.weight,
          job->graph.nodes - s->all.edges);
}

static void end(void *state) {
  struct mst *const s = state;
  undirected_free(&s->graph);
  free(s->b.node);
  free(s->found);
  free(s->taken);
}

int graph_mst(int argc, char **argv) {
  struct mst s = {0};
  const struct job_program program = {.name = "mst",
                                      .usage = USAGE,
                                      .task = sizeof(struct task),
                                      .both_ways = 1,
                                      .run = run,
                                      .ahead = ahead,
                                      .state = &s,
                                      .prepare = prepare,
                                      .reset = reset,
                                      .begin = begin,
                                      .check = check,
                                      .report = report,
                                      .external = external,
                                      .swept = 1,
                                      .columns = "from,to,weight",
                                      .write = write_all,
                                      .copies = 3,
                                      .node_bytes = sizeof(uint32_t) +
                                                    sizeof(struct digraph_arc),
                                      .end = end};
  return job_main(argc, argv, &program);
}
