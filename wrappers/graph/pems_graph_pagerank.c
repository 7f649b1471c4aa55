/* PageRank: by sweeps, or by tasks that pull and push.

     pems-graph pagerank [options] GRAPH | --generate SPEC

   Without --sched all threads sweep over the edges until the ranks of
   digraph/compute/ranks.h, which add up to 1, are known within --error.

   With --sched, the rank of v is x(v) = 1 - d + d * sum of x(u) / (edges of u)
   over all edges from u to v; d is 0.85. With --normalize ranks are divided by
   their sum, and are those of the sweeps then: what is dealt out to all nodes
   by those without edges is the same for each, so that y = c + d * sum for a c,
   and y is x times c / (1 - d).

   A task computes the rank of its node anew from those
   that lead to it (pull), and adds what that has grown by to the residuals of
   those that it leads to (push): a node whose residual reaches --epsilon gets a
   task, which takes the residual away (Whang, Lenharth, Dhillon and Pingali,
   Scalable Data-Driven PageRank, 2015, pull-push). Ranks begin at 1 - d and
   only grow.

   The priority of a task is the whole part of its node's rank, or with
   --detailed that of 1000 times it: pems_sched_fixed(x, 1) or (x, 0.001). So
   nodes of small rank go first, and those of large rank, which are led to by
   many, wait until they have heard of most of these (the other way round, they
   would be run again for each).

   --verify: where no task is left, a rank is at most epsilon from what those
   before it give, |F(x) - x| <= epsilon for each; that is looked at. As F makes
   the sum of all differences d times as much at most, the ranks differ by no
   more than n epsilon / (1 - d) altogether from the right ones; they are
   compared with those of a power iteration, too. Dividing both by their sums
   makes of a difference of D one of at most 2 D / sum. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "digraph/compute/ranks.h"
#include "digraph/compute/reference.h"
#include "wrappers/graph/pems_graph_commands.h"
#include "wrappers/graph/pems_graph_job.h"

#define USAGE                                                                  \
  "[options] GRAPH | --generate SPEC\n"                                        \
  "Computes the rank of each node."

#define DAMPING 0.85

#define ERROR "1e-4"
#define EPSILON "0.01"

struct pagerank {
  const char *error_given, *epsilon_given; /* as text, or NULL */
  struct ranks_options swept;
  struct ranks_found found;
  int detailed, normalize;
  double epsilon, unit; /* unit: of priorities */
  const struct digraph *g;
  struct digraph reverse;
  /* What a node gives to each that it leads to: x / edges, times d; x * d where
     there are none. */
  _Atomic double *share;
  _Atomic double *residual; /* what is missing from a rank, at most */
  double *right;            /* with --verify */
  double *rank;             /* that sweeps have found */
  uint64_t rounds;          /* of the reference's power iteration */
  double scale;             /* what ranks are told and written times */
  double sum, largest;      /* of the ranks, so scaled */
  double difference;        /* sum of differences from `right` */
};

static double edges_or_1(const struct pagerank *s, uint64_t v) {
  const uint64_t n = s->g->first[v + 1] - s->g->first[v];
  return n ? (double)n : 1;
}

static double rank_of(const struct pagerank *s, uint64_t v) {
  return atomic_load_explicit(&s->share[v], memory_order_relaxed) *
         edges_or_1(s, v) / DAMPING;
}

static double pull(const struct pagerank *s, uint64_t v) {
  enum { AHEAD = 16 };
  const struct digraph_edge *e = s->reverse.edge + s->reverse.first[v];
  const struct digraph_edge *const end =
      s->reverse.edge + s->reverse.first[v + 1];
  double sum = 1 - DAMPING;
  for (; e < end; e++) {
    if (end - e > AHEAD) {
      __builtin_prefetch((const void *)&s->share[e[AHEAD].to]);
    }
    sum += atomic_load_explicit(&s->share[e->to], memory_order_relaxed);
  }
  return sum;
}

static uint64_t priority_of(const struct pagerank *s, uint32_t v) {
  return pems_sched_fixed(rank_of(s, v), s->unit);
}

/* Makes a share larger: by how much, 0 if it was as large already, for another
   task of the node may have been faster. */
static double grow(_Atomic double *share, double to) {
  double old = atomic_load_explicit(share, memory_order_relaxed);
  while (old < to) {
    if (atomic_compare_exchange_weak_explicit(
            share, &old, to, memory_order_relaxed, memory_order_relaxed)) {
      return to - old;
    }
  }
  return 0;
}

/* What it was before. Release: whoever takes the residual away sees the share
   that has grown. */
static double add(_Atomic double *residual, double more) {
  double old = atomic_load_explicit(residual, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(
      residual, &old, old + more, memory_order_acq_rel, memory_order_relaxed))
    ;
  return old;
}

static void push(const struct pagerank *s, struct pems_sched_handle *handle,
                 uint64_t v, double more) {
  enum { AHEAD = 16 };
  const struct digraph_edge *const end = s->g->edge + s->g->first[v + 1];
  for (const struct digraph_edge *e = s->g->edge + s->g->first[v]; e < end;
       e++) {
    if (end - e > AHEAD) {
      __builtin_prefetch((const void *)&s->residual[e[AHEAD].to], 1);
    }
    const double before = add(&s->residual[e->to], more);
    if (before < s->epsilon && before + more >= s->epsilon) {
      job_push(handle, e->to, priority_of(s, e->to));
    }
  }
}

/* The residual goes before the shares are read: what is added to it later makes
   another task, and what was added before is in the shares (acquire). So where
   no task is left, a rank lacks no more than the residual of its node. */
static enum pems_sched_work run(void *arg, struct pems_sched_handle *handle,
                                const void *task, uint64_t priority) {
  const struct pagerank *const s = arg;
  const uint32_t v = job_task(task);
  (void)priority;
  atomic_exchange_explicit(&s->residual[v], 0, memory_order_acq_rel);
  const double more =
      grow(&s->share[v], pull(s, v) * DAMPING / edges_or_1(s, v));
  if (!(more > 0)) {
    return PEMS_SCHED_USELESS;
  }
  push(s, handle, v, more);
  return PEMS_SCHED_GOOD;
}

static void ahead(void *arg, const void *task, int step) {
  const struct pagerank *const s = arg;
  const uint32_t v = job_task(task);
  if (step == 0) {
    __builtin_prefetch(&s->reverse.first[v]);
    __builtin_prefetch(&s->g->first[v]);
    __builtin_prefetch((const void *)&s->share[v]);
    __builtin_prefetch((const void *)&s->residual[v], 1);
  } else {
    __builtin_prefetch(s->reverse.edge + s->reverse.first[v]);
    __builtin_prefetch(s->g->edge + s->g->first[v]);
  }
}

static double read_number(const char *name, const char *given, double least) {
  char *end = NULL;
  const double x = strtod(given, &end);
  if (end == given || *end || !(x > 0 && x >= least) || isinf(x)) {
    job_fail("%s: %s: give a number %s %g, as 0.01", name, given,
             least > 0 ? "from" : "above", least);
  }
  return x;
}

/* Each way has options of its own: none is left out without a word. */
static void options(struct job *job, void *state) {
  struct pagerank *const s = state;
  if (job->swept && (s->epsilon_given || s->detailed)) {
    job_fail("--%s: it is about tasks: give --sched NAME, too, or --error",
             s->epsilon_given ? "epsilon" : "detailed");
  }
  if (!job->swept && s->error_given) {
    job_fail("--error: %s: it is about sweeps: leave out --sched, or give "
             "--epsilon",
             s->error_given);
  }
  s->epsilon =
      read_number("epsilon", s->epsilon_given ? s->epsilon_given : EPSILON, 0);
  s->swept = (struct ranks_options){
      .damping = DAMPING,
      .error = read_number("error", s->error_given ? s->error_given : ERROR,
                           RANKS_ERROR_LEAST)};
  s->unit = s->detailed ? 0.001 : 1;
  s->normalize |= job->swept;
}

static void prepare(struct job *job, void *state) {
  struct pagerank *const s = state;
  const uint64_t nodes = job->graph.nodes;
  struct pems_error error;
  s->g = &job->graph;
  if (digraph_transpose(s->g, &s->reverse, &error)) {
    graph_options_fail(&error);
  }
  s->share = job_memory("ranks", nodes, sizeof(*s->share));
  s->residual = job_memory("residuals", nodes, sizeof(*s->residual));
}

static void reset(struct job *job, void *state) {
  struct pagerank *const s = state;
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    atomic_init(&s->share[v], (1 - DAMPING) * DAMPING / edges_or_1(s, v));
  }
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    atomic_init(&s->residual[v], pull(s, v) - (1 - DAMPING));
  }
}

static void begin(struct job *job, void *state) {
  struct pagerank *const s = state;
  struct pems_sched_handle *const handle = pems_sched_handle(job->sched, 0);
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    if (atomic_load_explicit(&s->residual[v], memory_order_relaxed) >=
        s->epsilon) {
      job_push(handle, (uint32_t)v, priority_of(s, (uint32_t)v));
    }
  }
}

/* Rounding: ranks are sums of numbers of 53 bits, kept as a quotient. */
static void compare(struct job *job, struct pagerank *s, uint64_t v) {
  const double rank = rank_of(s, v), again = pull(s, v);
  if (!(fabs(again - rank) <= s->epsilon * (1 + 1e-6) + 1e-9 * rank)) {
    job_differ(job,
               "node %" PRIu64 " has rank %.9g, but those before it give "
               "%.9g",
               v, rank, again);
  }
}

/* The rank of each node, wherever it is, as it is told and written. */
static double told_rank(const struct pagerank *s, uint64_t v) {
  return (s->rank ? s->rank[v] : rank_of(s, v)) * s->scale;
}

static void add_up(const struct job *job, struct pagerank *s) {
  s->scale = 1;
  s->sum = s->largest = 0;
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    s->sum += told_rank(s, v);
    s->largest = fmax(s->largest, told_rank(s, v));
  }
  if (s->normalize) {
    s->scale = 1 / s->sum;
    s->largest *= s->scale;
    s->sum = 1;
  }
}

/* Of the ranks' differences altogether: the power iteration ended within a
   thousandth of that. */
static double bound_of(const struct job *job, const struct pagerank *s) {
  if (job->swept) {
    return 1.01 * s->swept.error;
  }
  const double each = 1.01 * s->epsilon / (1 - DAMPING);
  return (double)job->graph.nodes * each * (s->normalize ? 2 * s->scale : 1);
}

static void ask_reference(const struct job *job, struct pagerank *s) {
  if (!job->verify || s->right) {
    return;
  }
  s->right = job_memory("--verify", job->graph.nodes, sizeof(*s->right));
  if (reference_ranks(&job->graph, DAMPING,
                      job->swept ? s->swept.error : s->epsilon, s->normalize,
                      s->right, &s->rounds)) {
    job_fail("no memory for --verify: leave it out");
  }
}

static void check(struct job *job, void *state) {
  struct pagerank *const s = state;
  add_up(job, s);
  ask_reference(job, s);
  if (!s->right) {
    return;
  }
  s->difference = 0;
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    if (!job->swept) {
      compare(job, s, v);
    }
    s->difference += fabs(told_rank(s, v) - s->right[v]);
  }
  if (!(s->difference <= bound_of(job, s))) {
    job_differ(job, "the ranks by %.9g altogether, more than %.9g",
               s->difference, bound_of(job, s));
  }
  job->best += job->graph.nodes * s->rounds;
}

static void external(struct job *job, void *state) {
  struct pagerank *const s = state;
  const struct digraph *const g = &job->graph;
  struct pems_error error;
  s->swept.threads = pems_sched_threads(job->sched);
  if (!s->rank) {
    s->rank = job_memory("ranks", g->nodes, sizeof(*s->rank));
  }
  const int code =
      g->edge
          ? ranks_of_graph(g, &s->swept, s->rank, &s->found, &error)
          : ranks_of_rows(job->rows, g, &s->swept, s->rank, &s->found, &error);
  if (code) {
    graph_options_fail(&error);
  }
  add_up(job, s);
}

static void write_all(struct job *job, void *state, struct graph_result *r) {
  const struct pagerank *const s = state;
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    const struct graph_value row[] = {
        {.kind = GRAPH_INDEX, .whole = v},
        {.kind = GRAPH_F64, .real = told_rank(s, v)}};
    graph_result_row(r, row, 2);
  }
}

static void report(const struct job *job, void *state) {
  const struct pagerank *const s = state;
  if (job->swept) {
    fprintf(job->told, " error=%g bound=%.3g rounds=%" PRIu64, s->swept.error,
            s->found.error, s->found.sweeps);
  } else {
    fprintf(job->told, " epsilon=%g detailed=%d", s->epsilon, s->detailed);
  }
  fprintf(job->told, " normalized=%d sum=%.9g largest=%.9g", s->normalize,
          s->sum, s->largest);
  if (job->verify) {
    fprintf(job->told, " difference=%.3g power_rounds=%" PRIu64, s->difference,
            s->rounds);
  }
}

static void end(void *state) {
  struct pagerank *const s = state;
  digraph_free(&s->reverse);
  free(s->share);
  free(s->residual);
  free(s->right);
  free(s->rank);
}

int graph_pagerank(int argc, char **argv) {
  struct pagerank s = {0};
  const struct graph_option own[] = {
      {"error", GRAPH_TEXT, &s.error_given, "X",
       "at most, of all ranks together, which add up to 1\n(" ERROR ")"},
      {"epsilon", GRAPH_TEXT, &s.epsilon_given, "X",
       "with --sched: changes up to this are not passed on\n(" EPSILON ")"},
      {"detailed", GRAPH_FLAG, &s.detailed, NULL,
       "with --sched: priorities 1000 times finer"},
      {"normalize", GRAPH_FLAG, &s.normalize, NULL,
       "with --sched: ranks add up to 1, as without it"},
      {0}};
  const struct job_program program = {.name = "pagerank",
                                      .usage = USAGE,
                                      .option = own,
                                      .task = sizeof(uint32_t),
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
                                      .swept = 1,
                                      .columns = "node,rank",
                                      .write = write_all,
                                      .copies = 2,
                                      .node_bytes = RANKS_ROWS_BYTES,
                                      .end = end};
  return job_main(argc, argv, &program);
}
