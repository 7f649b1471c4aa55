/* PageRank, by tasks that pull and push.

     pagerank [options] --graph FILE | --generate SPEC

   The rank of v is x(v) = 1 - d + d * sum of x(u) / (edges of u) over all edges
   from u to v; d is 0.85. A task computes the rank of its node anew from those
   that lead to it (pull), and adds d * |change| / edges to the residual of each
   that it leads to; one whose residual comes above --epsilon is scheduled
   (push; Whang, Lenharth, Dhillon and Pingali, Scalable Data-Driven PageRank,
   2015).

   The priority is the node's rank, as in section 5 of the PMOD paper: its whole
   part, or with --detailed that of 1000 times it; pems_sched_fixed(x, 1) or (x,
   0.001). So the nodes that many lead to come last, when most of what changes
   them has happened (largest first took 4 to 10 times as long).

   --verify: the residual is no less than |F(x) - x|, for changes are added up
   without their signs, and after the change; so where no task is left that is
   at most epsilon for each node, which is looked at. As F makes the sum of all
   differences d times as much at most, the ranks differ by no more than n
   epsilon / (1 - d) altogether from the right ones; they are compared with
   those of a power iteration, too. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "job.h"
#include "reference.h"

#define USAGE                                                                  \
  "[options] --graph FILE | --generate SPEC\n"                                 \
  "Computes the rank of each node."

#define DAMPING 0.85

/* AGAIN: running, and scheduled once more after that. */
enum node_state { IDLE, SCHEDULED, RUNNING, AGAIN };

struct pagerank {
  const char *given; /* --epsilon */
  int detailed;
  double epsilon, unit; /* unit: of priorities */
  const struct graph *g;
  struct graph reverse;
  /* What a node gives to each that it leads to: x / edges, times d; x * d where
     there are none. */
  _Atomic double *share;
  /* No less than |F(x) - x|, as far as tasks do not have it in hand. */
  _Atomic double *residual;
  _Atomic unsigned char *state; /* of nodes, enum node_state */
  double *right;                /* with --verify */
  uint64_t rounds;              /* of the power iteration */
  double sum, largest;          /* of the ranks */
  double difference;            /* sum of differences from `right` */
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
  const struct graph_edge *e = s->reverse.edge + s->reverse.first[v];
  const struct graph_edge *const end =
      s->reverse.edge + s->reverse.first[v + 1];
  double sum = 1 - DAMPING;
  for (; e < end; e++) {
    if (end - e > AHEAD)
      __builtin_prefetch((const void *)&s->share[e[AHEAD].to]);
    sum += atomic_load_explicit(&s->share[e->to], memory_order_relaxed);
  }
  return sum;
}

static uint64_t priority_of(const struct pagerank *s, uint32_t v) {
  return pems_sched_fixed(rank_of(s, v), s->unit);
}

/* Sees to it that v is looked at after now: true if a task must be pushed. */
static int wake(_Atomic unsigned char *state) {
  unsigned char old = atomic_load_explicit(state, memory_order_acquire);
  while (old == IDLE || old == RUNNING) {
    const unsigned char to = old == IDLE ? SCHEDULED : AGAIN;
    if (atomic_compare_exchange_weak_explicit(
            state, &old, to, memory_order_acq_rel, memory_order_acquire))
      return to == SCHEDULED;
  }
  return 0;
}

/* v may be further from its rank by that; who brings it above epsilon pushes
   the task. Release: who takes the residual sees the share that changed. */
static void add_residual(const struct pagerank *s,
                         struct pems_sched_handle *handle, uint32_t v,
                         double more) {
  double old = atomic_load_explicit(&s->residual[v], memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(
      &s->residual[v], &old, old + more, memory_order_acq_rel,
      memory_order_relaxed))
    ;
  if (old <= s->epsilon && old + more > s->epsilon && wake(&s->state[v]))
    job_push(handle, v, priority_of(s, v));
}

static enum pems_sched_work
update(const struct pagerank *s, struct pems_sched_handle *handle, uint32_t v) {
  enum { AHEAD = 8 };
  atomic_exchange_explicit(&s->residual[v], 0, memory_order_acq_rel);
  const double rank = pull(s, v), change = fabs(rank - rank_of(s, v));
  if (!(change > s->epsilon)) {
    add_residual(s, handle, v, change);
    return PEMS_SCHED_USELESS;
  }
  const double share = DAMPING / edges_or_1(s, v);
  atomic_store_explicit(&s->share[v], rank * share, memory_order_relaxed);
  const struct graph_edge *const end = s->g->edge + s->g->first[v + 1];
  for (const struct graph_edge *e = s->g->edge + s->g->first[v]; e < end; e++) {
    if (end - e > AHEAD)
      __builtin_prefetch((const void *)&s->residual[e[AHEAD].to], 1);
    add_residual(s, handle, e->to, change * share);
  }
  return PEMS_SCHED_GOOD;
}

/* A node has one task at a time, so that an older rank cannot replace a newer
   one: who finds it running lets it push the next one itself. */
static enum pems_sched_work run(void *arg, struct pems_sched_handle *handle,
                                const void *task, uint64_t priority) {
  const struct pagerank *const s = arg;
  const uint32_t v = job_task(task);
  unsigned char expected = RUNNING;
  (void)priority;
  atomic_store_explicit(&s->state[v], RUNNING, memory_order_relaxed);
  const enum pems_sched_work work = update(s, handle, v);
  /* Release: the next task sees this one's rank. */
  if (!atomic_compare_exchange_strong_explicit(&s->state[v], &expected, IDLE,
                                               memory_order_acq_rel,
                                               memory_order_acquire)) {
    atomic_store_explicit(&s->state[v], SCHEDULED, memory_order_release);
    job_push(handle, v, priority_of(s, v));
  }
  return work;
}

static void ahead(void *arg, const void *task, int step) {
  const struct pagerank *const s = arg;
  const uint32_t v = job_task(task);
  if (step == 0) {
    __builtin_prefetch(&s->reverse.first[v]);
    __builtin_prefetch(&s->g->first[v]);
    __builtin_prefetch((const void *)&s->share[v]);
    __builtin_prefetch((const void *)&s->residual[v], 1);
    __builtin_prefetch((const void *)&s->state[v], 1);
  } else {
    __builtin_prefetch(s->reverse.edge + s->reverse.first[v]);
    __builtin_prefetch(s->g->edge + s->g->first[v]);
  }
}

static double read_epsilon(const char *given) {
  char *end = NULL;
  const double epsilon = strtod(given, &end);
  if (end == given || *end || !(epsilon > 0) || isinf(epsilon))
    job_fail("epsilon: %s: give a number above 0, as 0.01", given);
  return epsilon;
}

static void options(struct job *job, void *state) {
  struct pagerank *const s = state;
  (void)job;
  s->epsilon = read_epsilon(s->given);
  s->unit = s->detailed ? 0.001 : 1;
}

static void prepare(struct job *job, void *state) {
  struct pagerank *const s = state;
  const uint64_t nodes = job->graph.nodes;
  struct pems_error error;
  s->g = &job->graph;
  if (graph_transpose(s->g, &s->reverse, &error))
    settings_fail(&error);
  s->share = job_memory("ranks", nodes, sizeof *s->share);
  s->residual = job_memory("residuals", nodes, sizeof *s->residual);
  s->state = job_memory("marks", nodes, sizeof *s->state);
  if (!job->verify)
    return;
  s->right = job_memory("--verify", nodes, sizeof *s->right);
  if (reference_ranks(s->g, DAMPING, s->epsilon, s->right, &s->rounds))
    job_fail("no memory for --verify: leave it out");
}

static void reset(struct job *job, void *state) {
  struct pagerank *const s = state;
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    atomic_init(&s->share[v], (1 - DAMPING) * DAMPING / edges_or_1(s, v));
    atomic_init(&s->residual[v], 0);
    atomic_init(&s->state[v], SCHEDULED);
  }
}

static uint64_t first_priority(void *state, uint32_t v) {
  return priority_of(state, v);
}

static void begin(struct job *job, void *state) {
  job_push_nodes(job, first_priority, state);
}

/* Rounding: ranks are sums of numbers of 53 bits, kept as a quotient. */
static void compare(struct job *job, struct pagerank *s, uint64_t v) {
  const double rank = rank_of(s, v), again = pull(s, v);
  if (!(fabs(again - rank) <= s->epsilon * (1 + 1e-6) + 1e-9 * rank))
    job_differ(job,
               "node %" PRIu64 " has rank %.9g, but those before it give "
               "%.9g",
               v, rank, again);
  s->difference += fabs(rank - s->right[v]);
}

static void check(struct job *job, void *state) {
  struct pagerank *const s = state;
  const double n = (double)job->graph.nodes;
  s->sum = s->largest = s->difference = 0;
  for (uint64_t v = 0; v < job->graph.nodes; v++) {
    s->sum += rank_of(s, v);
    s->largest = fmax(s->largest, rank_of(s, v));
    if (s->right)
      compare(job, s, v);
  }
  if (!s->right)
    return;
  /* The power iteration ended within epsilon / 1000 of its own. */
  const double bound = 1.01 * n * s->epsilon / (1 - DAMPING);
  if (!(s->difference <= bound))
    job_differ(job, "the ranks by %.9g altogether, more than %.9g",
               s->difference, bound);
  job->best += job->graph.nodes * s->rounds;
}

static void report(const struct job *job, void *state) {
  const struct pagerank *const s = state;
  printf(" epsilon=%g detailed=%d sum=%.9g largest=%.9g", s->epsilon,
         s->detailed, s->sum, s->largest);
  if (job->verify)
    printf(" difference=%.3g rounds=%" PRIu64, s->difference, s->rounds);
}

static void end(void *state) {
  struct pagerank *const s = state;
  graph_free(&s->reverse);
  free(s->share);
  free(s->residual);
  free(s->state);
  free(s->right);
}

int main(int argc, char **argv) {
  struct pagerank s = {.given = "0.01"};
  const struct setting own[] = {{"epsilon", SETTING_TEXT, &s.given,
                                 "X     residuals up to this are left (0.01)"},
                                {"detailed", SETTING_FLAG, &s.detailed,
                                 "     priorities 1000 times finer"},
                                {0}};
  return job_main(argc, argv,
                  &(struct job_program){.name = "pagerank",
                                        .usage = USAGE,
                                        .setting = own,
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
                                        .end = end});
}
