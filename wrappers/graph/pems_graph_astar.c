/* A*: the shortest path from one node to another, in a graph whose nodes have
   coordinates.

     pems-graph astar [options] GRAPH | --generate road:...

   As sssp, but a task's priority is the distance of its node plus a guess of
   the rest, the straight line to the target times the least weight that any
   edge has per length: never more than the distance, whatever the units are.
   Paths that cannot become shorter than the best one known are dropped. With
   --queries N there are N pairs of nodes, chosen by --seed, one after the
   other. --verify compares with Dijkstra's algorithm, and counts the tasks of a
   sequential A* for the work ratio. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "digraph/compute/reference.h"
#include "digraph/compute/search.h"
#include "wrappers/graph/pems_graph_commands.h"
#include "wrappers/graph/pems_graph_job.h"
#include "wrappers/graph/pems_graph_job_search.h"

#define USAGE                                                                  \
  "[options] GRAPH | --generate road:SPEC\n"                                   \
  "Finds the shortest path from one node to another."

/* A task fits 8 bytes, and so costs as much as one of 4; the distance is the
   priority less the guess. */
struct task {
  uint32_t node;
  uint32_t guess;
};

/* Side by side, for who looks at the one is likely to need the other. */
struct node {
  _Atomic uint64_t dist;
  struct digraph_place place;
};

/* A node of a path that was found. */
struct step {
  uint64_t query, dist;
  uint32_t node;
};

/* What the references said about a query. */
struct right {
  uint64_t dist, settled;
};

struct astar {
  uint64_t source, target; /* as given */
  uint64_t queries, seed;
  const uint64_t *first;
  const struct digraph_edge *edge;
  const struct digraph_place *place;
  struct node *node;
  double factor; /* weight per length, at least */
  uint32_t from, to;
  struct digraph_place goal;
  struct right *right; /* with --verify, for each query */
  uint64_t found;      /* targets that there was a path to */
  uint64_t sum;        /* of the distances of those */
  /* With --output: the paths; with edges in the file, all distances. */
  struct step *step;
  uint64_t steps, room;
  uint64_t *dist;
  uint32_t *parent;
  struct search_counts counts;
};

static double length(struct digraph_place a, struct digraph_place b) {
  const double x = (double)a.x - b.x, y = (double)a.y - b.y;
  return sqrt(x * x + y * y);
}

/* Rounded down, and no more than 32 bits hold: it stays consistent. */
static uint32_t guess(const struct astar *s, struct digraph_place place) {
  const double h = s->factor * length(place, s->goal);
  return h < UINT32_MAX ? (uint32_t)h : UINT32_MAX;
}

static uint64_t guess_rest(const void *arg, uint32_t node) {
  const struct astar *const s = arg;
  return guess(s, s->node[node].place);
}

static uint64_t guess_outside(const void *arg, uint32_t node) {
  const struct astar *const s = arg;
  return guess(s, s->place[node]);
}

static void look_at_row(void *arg, uint32_t node,
                        const struct digraph_edge *edge, uint64_t n) {
  struct astar *const s = arg;
  for (uint64_t i = 0; i < n; i++) {
    const double l = length(s->place[node], s->place[edge[i].to]);
    if (l > 0) {
      s->factor = fmin(s->factor, edge[i].weight / l);
    }
  }
}

/* The least weight per length of all edges, and a little less, for what is
   rounded. 0 where no edge says anything. */
static void find_factor(struct job *job, struct astar *s) {
  struct pems_error error;
  s->factor = INFINITY;
  if (rows_sweep(job->rows, NULL, look_at_row, s, &error)) {
    graph_options_fail(&error);
  }
  s->factor = isinf(s->factor) ? 0 : s->factor * (1 - 1e-12);
}

/* Offers `to` a path of that length, if it could be part of the best one. */
static void offer(const struct astar *s, struct pems_sched_handle *handle,
                  uint32_t to, uint64_t dist) {
  struct node *const node = &s->node[to];
  if (dist >= atomic_load_explicit(&node->dist, memory_order_relaxed)) {
    return;
  }
  const struct task task = {to, guess(s, node->place)};
  if (dist + task.guess >=
      atomic_load_explicit(&s->node[s->to].dist, memory_order_relaxed)) {
    return;
  }
  if (job_shorten(&node->dist, dist) && to != s->to) {
    (void)pems_sched_push(handle, &task, dist + task.guess);
  }
}

static enum pems_sched_work run(void *arg, struct pems_sched_handle *handle,
                                const void *task, uint64_t priority) {
  const struct astar *const s = arg;
  const struct task *const t = task;
  const uint64_t dist = priority - t->guess;
  if (atomic_load_explicit(&s->node[t->node].dist, memory_order_relaxed) <
          dist ||
      atomic_load_explicit(&s->node[s->to].dist, memory_order_relaxed) <=
          priority) {
    return PEMS_SCHED_USELESS;
  }
  const struct digraph_edge *const begin = s->edge + s->first[t->node];
  const struct digraph_edge *const end = s->edge + s->first[t->node + 1];
  for (const struct digraph_edge *e = begin; e < end; e++) {
    __builtin_prefetch(&s->node[e->to], 1);
  }
  for (const struct digraph_edge *e = begin; e < end; e++) {
    offer(s, handle, e->to, dist + e->weight);
  }
  return PEMS_SCHED_GOOD;
}

static void ahead(void *arg, const void *task, int step) {
  const struct astar *const s = arg;
  const struct task *const t = task;
  if (step == 0) {
    __builtin_prefetch(&s->node[t->node]);
    __builtin_prefetch(&s->first[t->node]);
  } else {
    __builtin_prefetch(s->edge + s->first[t->node]);
  }
}

/* --- queries --- */

/* A number below n, the same for the same seed and count (splitmix64). */
static uint32_t chosen(uint64_t seed, uint64_t count, uint64_t n) {
  uint64_t x = seed * 0x9e3779b97f4a7c15 + (count + 1) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return (uint32_t)((x >> 32) * n >> 32);
}

static void choose(struct job *job, struct astar *s, uint64_t query) {
  const uint64_t nodes = job->graph.nodes;
  s->from = s->source == JOB_ANY ? chosen(s->seed, 2 * query, nodes)
                                 : (uint32_t)s->source;
  s->to = s->target == JOB_ANY ? chosen(s->seed, 2 * query + 1, nodes)
                               : (uint32_t)s->target;
  s->goal = s->place[s->to];
}

static void ask_references(struct job *job, struct astar *s) {
  s->right = job_memory("--verify", s->queries, sizeof(*s->right));
  for (uint64_t q = 0; q < s->queries; q++) {
    struct right *const r = &s->right[q];
    uint64_t other;
    choose(job, s, q);
    if (reference_route(&job->graph, s->from, s->to, NULL, NULL, &r->dist,
                        &other) ||
        reference_route(&job->graph, s->from, s->to, guess_rest, s, &other,
                        &r->settled)) {
      job_fail("no memory for --verify: leave it out");
    }
    if (other != r->dist) {
      job_fail("sequential A*: %" PRIu64 ", but Dijkstra: %" PRIu64
               ": this is a mistake in pems",
               other, r->dist);
    }
  }
}

static void options(struct job *job, void *state) {
  enum { QUERIES_MOST = 1000000 };
  struct astar *const s = state;
  if (s->queries < 1 || s->queries > QUERIES_MOST) {
    job_fail("queries: %" PRIu64 ": give 1 to %d", s->queries, QUERIES_MOST);
  }
  job->rounds = s->queries;
}

static void begin_queries(struct job *job, struct astar *s) {
  const uint64_t nodes = job->graph.nodes;
  if (s->source != JOB_ANY) {
    job_node(job, "source", s->source);
  }
  if (s->target != JOB_ANY) {
    job_node(job, "target", s->target);
  }
  s->seed = job->seed;
  s->place = job->graph.place;
  if (job->output) {
    s->parent = job_memory("parents", nodes, sizeof(*s->parent));
  }
  if (job->output || !job->graph.edge) {
    s->dist = job_memory("distances", nodes, sizeof(*s->dist));
  }
  find_factor(job, s);
}

static void prepare(struct job *job, void *state) {
  struct astar *const s = state;
  const struct digraph *const g = &job->graph;
  s->first = g->first;
  s->edge = g->edge;
  s->node = job_memory("distances", g->nodes, sizeof(*s->node));
  for (uint64_t v = 0; v < g->nodes; v++) {
    s->node[v].place = g->place[v];
  }
  begin_queries(job, s);
  if (job->verify) {
    ask_references(job, s);
  }
}

static void reset(struct job *job, void *state) {
  struct astar *const s = state;
  if (job->round == 0) {
    s->found = s->sum = s->steps = 0;
  }
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    atomic_init(&s->node[v].dist, REFERENCE_FAR);
  }
  choose(job, s, job->round);
}

static void begin(struct job *job, void *state) {
  struct astar *const s = state;
  offer(s, pems_sched_handle(job->sched, 0), s->from, 0);
}

/* --- paths --- */

static void add_step(struct astar *s, uint64_t query, uint32_t node) {
  enum { FIRST = 1024 };
  if (s->steps == s->room) {
    s->room = s->room ? 2 * s->room : FIRST;
    s->step = realloc(s->step, s->room * sizeof(*s->step));
    if (!s->step) {
      job_fail("no memory for paths: %" PRIu64 " nodes: ask for fewer",
               s->room);
    }
  }
  s->step[s->steps++] = (struct step){query, s->dist[node], node};
}

/* From the target back, then turned round. */
static void keep_path(struct job *job, struct astar *s) {
  const struct search_options o = {.source = s->from};
  const uint64_t begin = s->steps;
  struct pems_error error;
  if (s->dist[s->to] == SEARCH_FAR) {
    return;
  }
  if (search_parents(job->rows, &job->graph, &o, s->dist, s->parent, &error)) {
    graph_options_fail(&error);
  }
  for (uint32_t v = s->to; v != SEARCH_NOBODY; v = s->parent[v]) {
    add_step(s, job->round, v);
  }
  for (uint64_t i = begin, j = s->steps; i + 1 < j; i++) {
    const struct step step = s->step[i];
    s->step[i] = s->step[--j];
    s->step[j] = step;
  }
}

static void count(struct astar *s, uint64_t dist) {
  if (dist != REFERENCE_FAR) {
    s->found++;
    s->sum += dist;
  }
}

static void check(struct job *job, void *state) {
  struct astar *const s = state;
  const uint64_t dist =
      atomic_load_explicit(&s->node[s->to].dist, memory_order_relaxed);
  count(s, dist);
  if (job->output) {
    for (uint64_t v = 0; v < job->graph.nodes; v++) {
      s->dist[v] = atomic_load_explicit(&s->node[v].dist, memory_order_relaxed);
    }
    keep_path(job, s);
  }
  if (!s->right) {
    return;
  }
  const struct right *const r = &s->right[job->round];
  if (dist != r->dist) {
    job_differ(
        job, "from %" PRIu32 " to %" PRIu32 " it is %" PRIu64 ", not %" PRIu64,
        s->from, s->to, dist, r->dist);
  }
  job->best += r->settled;
}

static void external(struct job *job, void *state) {
  struct astar *const s = state;
  begin_queries(job, s);
  for (job->round = 0; job->round < job->rounds; job->round++) {
    choose(job, s, job->round);
    const struct search_options o = {
        .source = s->from, .guess = guess_outside, .arg = s, .target = s->to};
    job_search(job, &o, s->dist, &s->counts);
    count(s, s->dist[s->to]);
    if (job->output) {
      keep_path(job, s);
    }
  }
}

static void write_all(struct job *job, void *state, struct graph_result *r) {
  const struct astar *const s = state;
  (void)job;
  for (uint64_t i = 0; i < s->steps; i++) {
    const struct step *const step = &s->step[i];
    const struct graph_value row[] = {{.kind = GRAPH_U32, .whole = step->query},
                                      {.kind = GRAPH_U32, .whole = step->node},
                                      {.kind = GRAPH_U64, .whole = step->dist}};
    graph_result_row(r, row, 3);
  }
}

static void report(const struct job *job, void *state) {
  const struct astar *const s = state;
  fprintf(job->told,
          " queries=%" PRIu64 " factor=%.6g found=%" PRIu64 " sum=%" PRIu64,
          job->rounds, s->factor, s->found, s->sum);
  if (job->rounds == 1) {
    fprintf(job->told, " source=%" PRIu32 " target=%" PRIu32, s->from, s->to);
  }
}

static void end(void *state) {
  struct astar *const s = state;
  free(s->node);
  free(s->right);
  free(s->step);
  free(s->dist);
  free(s->parent);
}

int graph_astar(int argc, char **argv) {
  struct astar s = {.source = JOB_ANY, .target = JOB_ANY, .queries = 1};
  const struct graph_option own[] = {
      {"source", GRAPH_COUNT, &s.source, "N", "begin there (a random node)"},
      {"target", GRAPH_COUNT, &s.target, "N", "end there (a random node)"},
      {"queries", GRAPH_COUNT, &s.queries, "N", "that many (1)"},
      {0}};
  const struct job_program program = {.name = "astar",
                                      .usage = USAGE,
                                      .option = own,
                                      .task = sizeof(struct task),
                                      .places = 1,
                                      .run = run,
                                      .ahead = ahead,
                                      .state = &s,
                                      .options = options,
                                      .prepare = prepare,
                                      .reset = reset,
                                      .begin = begin,
                                      .check = check,
                                      .report = report,
                                      .external = external,
                                      .columns = "query,node,distance",
                                      .write = write_all,
                                      .copies = 1,
                                      .node_bytes =
                                          JOB_SEARCH_BYTES + sizeof(uint32_t),
                                      .end = end};
  return job_main(argc, argv, &program);
}
