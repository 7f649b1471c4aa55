#include "digraph/compute/pulled.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "digraph/generate.h"

uint64_t pulled_part(const uint64_t *first, uint64_t nodes, int i, int parts) {
  const uint64_t all = first[nodes] + nodes;
  const uint64_t before = all / (uint64_t)parts * (uint64_t)i +
                          all % (uint64_t)parts * (uint64_t)i / (uint64_t)parts;
  uint64_t low = 0, high = nodes;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (first[middle] + middle < before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* --- whether edges lead both ways --- */

enum { PARTS_EACH = 16 }; /* for each thread */

struct check {
  const struct digraph *g;
  int parts;
  uint64_t *sum; /* of each part */
};

/* With a random number a for each node, the sum of a(u) a(v) (a(v) - a(u)) over
   all edges from u to v is 0 where each has its reverse, and else by a chance
   of some 2^-60. */
static void add_part(void *arg, int part, int member) {
  const struct check *const c = arg;
  const struct digraph *const g = c->g;
  const uint64_t end = pulled_part(g->first, g->nodes, part + 1, c->parts);
  uint64_t sum = 0;
  (void)member;
  for (uint64_t v = pulled_part(g->first, g->nodes, part, c->parts); v < end;
       v++) {
    const uint64_t own = generate_mix(v);
    uint64_t once = 0, squared = 0;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      const uint64_t other = generate_mix(g->edge[i].to);
      once += other;
      squared += other * other;
    }
    sum += own * squared - own * own * once;
  }
  c->sum[part] = sum;
}

static int check_both_ways(const struct digraph *g, struct team *team,
                           bool *both, struct pems_error *error) {
  struct check c = {.g = g, .parts = PARTS_EACH * team_size(team)};
  uint64_t sum = 0;
  c.sum = calloc((size_t)c.parts, sizeof(*c.sum));
  if (!c.sum) {
    return digraph_failure(error, ENOMEM, "no memory for sums: free some");
  }
  team_run(team, c.parts, add_part, &c);
  for (int i = 0; i < c.parts; i++) {
    sum += c.sum[i];
  }
  free(c.sum);
  *both = sum == 0;
  return 0;
}

/* --- turning round: a counting sort --- */

struct turn {
  const struct digraph *g;
  int parts;
  uint64_t *first;
  uint32_t *from;
};

/* A part of the nodes that edges lead to: no two threads write to the same. */
static void range_of(const struct turn *t, int part, uint32_t *begin,
                     uint32_t *end) {
  const uint64_t share = t->g->nodes / (uint64_t)t->parts + 1;
  const uint64_t at = share * (uint64_t)part;
  *begin = (uint32_t)(at < t->g->nodes ? at : t->g->nodes);
  *end = (uint32_t)(at + share < t->g->nodes ? at + share : t->g->nodes);
}

/* In first[v + 2], as digraph_build has it: so first[v + 1] is where the next
   edge to v goes. The last node's number has no place; none is needed. */
static void count_part(void *arg, int part, int member) {
  const struct turn *const t = arg;
  uint32_t begin, end;
  (void)member;
  range_of(t, part, &begin, &end);
  if (end + 1ull > t->g->nodes) {
    end--;
  }
  for (uint64_t i = 0; i < t->g->edges; i++) {
    const uint32_t to = t->g->edge[i].to;
    if (to >= begin && to < end) {
      t->first[to + 2ull]++;
    }
  }
}

static void place_part(void *arg, int part, int member) {
  const struct turn *const t = arg;
  const struct digraph *const g = t->g;
  uint32_t begin, end;
  (void)member;
  range_of(t, part, &begin, &end);
  for (uint64_t v = 0; v < g->nodes; v++) {
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      const uint32_t to = g->edge[i].to;
      if (to >= begin && to < end) {
        t->from[t->first[to + 1ull]++] = (uint32_t)v;
      }
    }
  }
}

static int turn_round(struct pulled *p, const struct digraph *g,
                      struct team *team, struct pems_error *error) {
  struct turn t = {.g = g, .parts = team_size(team)};
  t.first = digraph_memory((g->nodes + 2) * sizeof(*t.first), error);
  t.from =
      t.first ? digraph_memory((g->edges + 1) * sizeof(*t.from), error) : NULL;
  if (!t.from) {
    free(t.first);
    return ENOMEM;
  }
  for (uint64_t v = 0; v < g->nodes + 2; v++) {
    t.first[v] = 0;
  }
  team_run(team, t.parts, count_part, &t);
  for (uint64_t v = 2; v <= g->nodes; v++) {
    t.first[v] += t.first[v - 1];
  }
  team_run(team, t.parts, place_part, &t);
  *p = (struct pulled){
      .first = t.first, .from = t.from, .step = 1, .memory = {t.first, t.from}};
  return 0;
}

int pulled_make(struct pulled *p, const struct digraph *g, struct team *team,
                struct pems_error *error) {
  bool both = false;
  *p = (struct pulled){0};
  const int code = check_both_ways(g, team, &both, error);
  if (code || !both) {
    return code ? code : turn_round(p, g, team, error);
  }
  *p = (struct pulled){.first = g->first,
                       .from = g->edges ? &g->edge->to : NULL,
                       .step = sizeof(*g->edge) / sizeof(g->edge->to)};
  return 0;
}

void pulled_free(struct pulled *p) {
  free(p->memory[0]);
  free(p->memory[1]);
  *p = (struct pulled){0};
}
