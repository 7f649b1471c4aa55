/* Breadth-first search: the fewest edges from one node to each other.

     pems-graph bfs [options] GRAPH | --generate SPEC

   As sssp with edges that are 1 long, and numbers of 4 bytes. --verify compares
   all levels with those of a sequential search. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "digraph/compute/reference.h"
#include "digraph/compute/search.h"
#include "wrappers/graph/pems_graph_commands.h"
#include "wrappers/graph/pems_graph_job.h"
#include "wrappers/graph/pems_graph_job_search.h"

#define USAGE                                                                  \
  "[options] GRAPH | --generate SPEC\n"                                        \
  "Finds the fewest edges from one node to each other."

struct bfs {
  struct job_paths paths;
  const uint64_t *first;
  const struct digraph_edge *edge;
  _Atomic uint32_t *level;
  uint32_t *right; /* with --verify */
};

/* As job_shorten. */
static bool lower(_Atomic uint32_t *level, uint32_t to) {
  uint32_t old = atomic_load_explicit(level, memory_order_relaxed);
  while (to < old) {
    if (atomic_compare_exchange_weak_explicit(
            level, &old, to, memory_order_relaxed, memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

static enum pems_sched_work run(void *arg, struct pems_sched_handle *handle,
                                const void *task, uint64_t priority) {
  enum { AHEAD = 12 };
  const struct bfs *const s = arg;
  const uint32_t from = job_task(task), level = (uint32_t)priority + 1;
  if (atomic_load_explicit(&s->level[from], memory_order_relaxed) < priority) {
    return PEMS_SCHED_USELESS;
  }
  const struct digraph_edge *e = s->edge + s->first[from];
  const struct digraph_edge *const end = s->edge + s->first[from + 1];
  /* All that the row needs is on its way before the first branch waits. */
  for (int i = 0; i < AHEAD && e + i < end; i++) {
    __builtin_prefetch((const void *)&s->level[e[i].to], 1);
  }
  for (; e < end; e++) {
    if (end - e > AHEAD) {
      __builtin_prefetch((const void *)&s->level[e[AHEAD].to], 1);
    }
    if (lower(&s->level[e->to], level)) {
      job_push(handle, e->to, level);
    }
  }
  return PEMS_SCHED_GOOD;
}

static void ahead(void *arg, const void *task, int step) {
  const struct bfs *const s = arg;
  const uint32_t node = job_task(task);
  if (step == 0) {
    __builtin_prefetch((const void *)&s->level[node]);
    __builtin_prefetch(&s->first[node]);
  } else {
    __builtin_prefetch(s->edge + s->first[node]);
  }
}

static void prepare(struct job *job, void *state) {
  struct bfs *const s = state;
  const uint64_t nodes = job->graph.nodes;
  s->paths.source = job_node(job, "source", s->paths.given);
  s->first = job->graph.first;
  s->edge = job->graph.edge;
  s->level = job_memory(s->paths.what, nodes, sizeof(*s->level));
  if (!job->verify) {
    return;
  }
  s->right = job_memory("--verify", nodes, sizeof(*s->right));
  uint64_t reached;
  if (reference_levels(&job->graph, s->paths.source, s->right, &reached)) {
    job_fail("no memory for --verify: leave it out");
  }
}

static void reset(struct job *job, void *state) {
  struct bfs *const s = state;
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    atomic_init(&s->level[v], REFERENCE_FAR_LEVEL);
  }
}

static void begin(struct job *job, void *state) {
  struct bfs *const s = state;
  atomic_init(&s->level[s->paths.source], 0);
  job_push(pems_sched_handle(job->sched, 0), s->paths.source, 0);
}

static void check(struct job *job, void *state) {
  struct bfs *const s = state;
  s->paths.reached = 0;
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    const uint32_t level =
        atomic_load_explicit(&s->level[v], memory_order_relaxed);
    s->paths.reached += level != REFERENCE_FAR_LEVEL;
    if (s->right && level != s->right[v]) {
      job_differ(job, "node %" PRIu64 " has level %" PRIu32 ", not %" PRIu32, v,
                 level, s->right[v]);
    }
  }
  job->best += s->paths.reached; /* a sequential search visits each once */
}

static void write_all(struct job *job, void *state, struct graph_result *r) {
  struct bfs *const s = state;
  const uint64_t nodes = job->graph.nodes;
  if (!s->paths.found) {
    s->paths.found = job_memory(s->paths.what, nodes, sizeof(*s->paths.found));
    for (uint64_t v = 0; v < nodes; v++) {
      const uint32_t level =
          atomic_load_explicit(&s->level[v], memory_order_relaxed);
      s->paths.found[v] = level == REFERENCE_FAR_LEVEL ? SEARCH_FAR : level;
    }
  }
  job_paths_write(job, s, r);
}

static void end(void *state) {
  struct bfs *const s = state;
  free(s->level);
  free(s->right);
  free(s->paths.found);
}

int graph_bfs(int argc, char **argv) {
  struct bfs s = {.paths = {.what = "levels", .unit = true, .given = JOB_ANY}};
  const struct graph_option own[] = {JOB_PATHS_SOURCE(&s.paths), {0}};
  const struct job_program program = {.name = "bfs",
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
                                      .columns = "node,level",
                                      .columns_with_parents =
                                          "node,level,parent",
                                      .write = write_all,
                                      .copies = 1,
                                      .node_bytes = JOB_SEARCH_BYTES,
                                      .end = end};
  return job_main(argc, argv, &program);
}
