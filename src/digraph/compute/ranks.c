/* The equations are solved for x = y * n * (a number), where ranks of nodes
   without edges go nowhere: x(v) = 1 - d + d * (the sum of x(u) / edges of u).
   For what they deal out is the same for each node.

   Sweeps are those of Gauss and Seidel: each node uses what those before it
   have just got. A sweep shrinks all errors, the sum of all ranks' most slowly;
   but what that should be is known: what the nodes have is what they are given,
   n * (1 - d), and what comes over edges. So the first sweeps are each followed
   by a multiplication of all ranks but those that are right anyway, as in
   aggregation (Stewart, Introduction to the Numerical Solution of Markov
   Chains, 1994, 6.3).

   The error: with r(v) = what the right hand gives of x - x(v), the residuals
   of y = x / sum are (r - the mean of r) / sum, and the map for y makes sums of
   differences d times as much at most. So the error of y is at most (the sum of
   |r| + |the sum of r|) / (sum * (1 - d)). */
#include "digraph/compute/ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "digraph/compute/pulled.h"

enum {
  SCALED = 8, /* sweeps that may be followed by a multiplication */
  /* Parts of the nodes for each thread: so many that none waits long, and each
     so long that threads seldom share a cache line. */
  PARTS_EACH = 64,
};

/* Sums over nodes, apart those whose ranks are right after the first sweep. */
struct sums {
  double all, idle;         /* of ranks; of those without edges */
  double right, right_idle; /* the same, of those that are right */
  double residual;          /* sum of |r|, at most */
};

/* --- what is known of the sums --- */

/* The sum of r. */
static double missing(const struct sums *s, double d, uint64_t nodes) {
  const double all = s->all + s->right, idle = s->idle + s->right_idle;
  return (1 - d) * ((double)nodes - all) - d * idle;
}

static double error_of(const struct sums *s, double d, uint64_t nodes) {
  const double all = s->all + s->right;
  return (s->residual + fabs(missing(s, d, nodes))) / (all * (1 - d));
}

/* Factor of all ranks with which nothing is missing; 1 where that changes too
   little to be worth it. */
static double scale_of(const struct sums *s, double d, uint64_t nodes,
                       uint64_t sweeps) {
  const double more = missing(s, d, nodes),
               has = (1 - d) * s->all + d * s->idle;
  return sweeps <= SCALED && has > 0 && fabs(more) > s->residual / 16
             ? 1 + more / has
             : 1;
}

/* A sweep makes residuals d times as much at most, but for rounding. */
static uint64_t sweeps_most(double d, double error) {
  const double first = 16 / ((1 - d) * (1 - d));
  return SCALED + (uint64_t)ceil(log(fmin(error / first, d)) / log(d));
}

static int too_small(double most, const struct ranks_found *found,
                     struct pems_error *error) {
  return digraph_failure(error, EDOM,
                         "error of ranks: %g: rounding leaves %g: give more",
                         most, found->error);
}

static void divide(double *rank, uint64_t nodes, double by) {
  for (uint64_t v = 0; v < nodes; v++) {
    rank[v] /= by;
  }
}

/* --- in memory: pulling --- */

struct pull;
typedef void pull_each(const struct pull *p, uint64_t v);

struct pull {
  const struct digraph *g;
  struct pulled in;
  double d, scale;
  double *share; /* x / edges of a node, x of those without any */
  struct team *team;
  int parts;
  struct sums *sums; /* of each part */
  pull_each *each;
};

static double edges_or_1(const struct digraph *g, uint64_t v) {
  const uint64_t n = g->first[v + 1] - g->first[v];
  return n ? (double)n : 1;
}

/* Others may write it meanwhile: what they had or what they get is as good. */
static double peek(const double *share) {
  double value;
  __atomic_load(share, &value, __ATOMIC_RELAXED);
  return value;
}

static void poke(double *share, double value) {
  __atomic_store(share, &value, __ATOMIC_RELAXED);
}

static double sum_given(const struct pull *p, uint64_t v) {
  const size_t step = p->in.step;
  const uint32_t *from = p->in.from + p->in.first[v] * step;
  const uint32_t *const end = p->in.from + p->in.first[v + 1] * step;
  double sum = 0;
  for (; from < end; from += step) {
    sum += peek(&p->share[*from]);
  }
  return sum;
}

static void count_rank(struct sums *s, double rank, bool leads, bool right) {
  if (right) {
    s->right += rank;
    s->right_idle += leads ? 0 : rank;
  } else {
    s->all += rank;
    s->idle += leads ? 0 : rank;
  }
}

/* A residual is d times what the shares that were read have grown by since. A
   node often waits for the share of the one before it, so what needs no share,
   as the division, is done beside that. */
static void pull_part(void *arg, int part, int member) {
  const struct pull p = *(const struct pull *)arg; /* where no store reaches */
  const uint64_t *const first = p.g->first, *const in = p.in.first;
  const uint64_t end = pulled_part(in, p.g->nodes, part + 1, p.parts);
  struct sums s = {0};
  double change = 0;
  (void)member;
  for (uint64_t v = pulled_part(in, p.g->nodes, part, p.parts); v < end; v++) {
    const bool leads = first[v] < first[v + 1];
    const double edges = edges_or_1(p.g, v), each = 1 / edges;
    const double share = (1 - p.d) * each + p.d * each * sum_given(&p, v);
    if (leads) {
      change += fabs(share - p.share[v]) * edges;
    }
    poke(&p.share[v], share);
    count_rank(&s, share * edges, leads, in[v] == in[v + 1]);
  }
  s.residual = p.d * change;
  p.sums[part] = s;
}

static struct sums pull_all(struct pull *p) {
  struct sums all = {0};
  team_run(p->team, p->parts, pull_part, p);
  for (int i = 0; i < p->parts; i++) {
    all.all += p->sums[i].all;
    all.idle += p->sums[i].idle;
    all.right += p->sums[i].right;
    all.right_idle += p->sums[i].right_idle;
    all.residual += p->sums[i].residual;
  }
  return all;
}

/* Passes each node of a part to p->each. */
static void each_part(void *arg, int part, int member) {
  const struct pull *const p = arg;
  const uint64_t *const first = p->in.first;
  const uint64_t end = pulled_part(first, p->g->nodes, part + 1, p->parts);
  (void)member;
  for (uint64_t v = pulled_part(first, p->g->nodes, part, p->parts); v < end;
       v++) {
    p->each(p, v);
  }
}

static void for_each(struct pull *p, pull_each *each) {
  p->each = each;
  team_run(p->team, p->parts, each_part, p);
}

static bool is_led_to(const struct pull *p, uint64_t v) {
  return p->in.first[v] < p->in.first[v + 1];
}

static void begin_with(const struct pull *p, uint64_t v) {
  p->share[v] = (is_led_to(p, v) ? 1 : 1 - p->d) / edges_or_1(p->g, v);
}

static void scale(const struct pull *p, uint64_t v) {
  p->share[v] *= is_led_to(p, v) ? p->scale : 1;
}

/* Shares become ranks. */
static void finish(const struct pull *p, uint64_t v) {
  p->share[v] *= edges_or_1(p->g, v) * p->scale;
}

static int pull_until(struct pull *p, double most, struct ranks_found *found,
                      struct pems_error *error) {
  struct sums s;
  for_each(p, begin_with);
  for (*found = (struct ranks_found){0};;) {
    s = pull_all(p);
    found->sweeps++;
    found->error = error_of(&s, p->d, p->g->nodes);
    if (found->error <= most) {
      break;
    }
    if (found->sweeps == sweeps_most(p->d, most)) {
      return too_small(most, found, error);
    }
    p->scale = scale_of(&s, p->d, p->g->nodes, found->sweeps);
    if (p->scale != 1) {
      for_each(p, scale);
    }
  }
  p->scale = 1 / (s.all + s.right);
  for_each(p, finish);
  return 0;
}

int ranks_of_graph(const struct digraph *g, const struct ranks_options *o,
                   double *rank, struct ranks_found *found,
                   struct pems_error *error) {
  struct pull p = {
      .g = g, .d = o->damping, .share = rank, .parts = PARTS_EACH * o->threads};
  int code = team_new(&p.team, o->threads);
  if (code) {
    return digraph_failure(error, code, "no threads: %d: give fewer",
                           o->threads);
  }
  p.sums = calloc((size_t)p.parts, sizeof(*p.sums));
  code = p.sums ? pulled_make(&p.in, g, p.team, error)
                : digraph_failure(error, ENOMEM,
                                  "no memory for sums: free "
                                  "some");
  if (!code) {
    code = pull_until(&p, o->error, found, error);
  }
  pulled_free(&p.in);
  free(p.sums);
  team_free(p.team);
  return code;
}

/* --- in a file: pushing --- */

struct push {
  const struct digraph *g;
  double d;
  double *rank;     /* x */
  double *residual; /* r, of each node, always right */
  uint64_t *right;  /* nodes without any edge */
  uint64_t node;    /* whose edges are pushed along, and what along each */
  double share;
};

#define NOBODY UINT64_MAX

/* A node's edges may come in several calls. */
static void push_row(void *arg, uint32_t node, const struct digraph_edge *edge,
                     uint64_t n) {
  struct push *const p = arg;
  if (p->node != node) {
    const double more = p->residual[node];
    p->node = node;
    p->rank[node] += more;
    p->residual[node] = 0;
    p->share = p->d * more / edges_or_1(p->g, node);
  }
  for (uint64_t i = 0; i < n; i++) {
    p->residual[edge[i].to] += p->share;
  }
}

/* Nodes without edges are not visited, but get ranks. Once: of those, who has
   been given nothing by anyone is led to by none. */
static void take_idle(struct push *p, bool once) {
  for (uint64_t v = 0; v < p->g->nodes; v++) {
    if (p->g->first[v] == p->g->first[v + 1]) {
      if (once && p->residual[v] == 1 - p->d) {
        rows_set_add(p->right, v);
      }
      p->rank[v] += p->residual[v];
      p->residual[v] = 0;
    }
  }
}

static struct sums add_up(const struct push *p) {
  struct sums s = {0};
  for (uint64_t v = 0; v < p->g->nodes; v++) {
    count_rank(&s, p->rank[v], p->g->first[v] < p->g->first[v + 1],
               rows_set_has(p->right, v));
    s.residual += fabs(p->residual[v]);
  }
  return s;
}

/* The residual of x is 1 - d less what is linear in x. */
static void scale_pushed(struct push *p, double by) {
  for (uint64_t v = 0; v < p->g->nodes; v++) {
    if (!rows_set_has(p->right, v)) {
      p->rank[v] *= by;
      p->residual[v] = (1 - p->d) * (1 - by) + by * p->residual[v];
    }
  }
}

static int push_until(struct push *p, struct rows *rows, double most,
                      struct ranks_found *found, struct pems_error *error) {
  const uint64_t nodes = p->g->nodes;
  for (*found = (struct ranks_found){0};;) {
    p->node = NOBODY;
    const int code = rows_sweep(rows, NULL, push_row, p, error);
    if (code) {
      return code;
    }
    take_idle(p, found->sweeps++ == 0);
    const struct sums s = add_up(p);
    found->error = error_of(&s, p->d, nodes);
    if (found->error <= most) {
      divide(p->rank, nodes, s.all + s.right);
      return 0;
    }
    if (found->sweeps == sweeps_most(p->d, most)) {
      return too_small(most, found, error);
    }
    const double by = scale_of(&s, p->d, nodes, found->sweeps);
    if (by != 1) {
      scale_pushed(p, by);
    }
  }
}

int ranks_of_rows(struct rows *rows, const struct digraph *g,
                  const struct ranks_options *o, double *rank,
                  struct ranks_found *found, struct pems_error *error) {
  struct push p = {.g = g, .d = o->damping, .rank = rank};
  p.residual = digraph_memory(g->nodes * sizeof(*p.residual), error);
  p.right = calloc(rows_set_words(g->nodes), sizeof(*p.right));
  int code = !p.residual ? ENOMEM
             : p.right   ? 0
                         : digraph_failure(error, ENOMEM,
                                           "no memory for ranks: free some");
  for (uint64_t v = 0; v < g->nodes && !code; v++) {
    p.rank[v] = 0;
    p.residual[v] = 1 - o->damping;
  }
  if (!code) {
    code = push_until(&p, rows, o->error, found, error);
  }
  free(p.residual);
  free(p.right);
  return code;
}
