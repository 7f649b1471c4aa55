/* Kruskal's algorithm, which filters (Osipov, Sanders and Singler, The
   Filter-Kruskal Minimum Spanning Tree Algorithm, 2009): the lightest edges,
   some of each node, join most of what can be joined; of the others only those
   are sorted that lead from one tree to another then. */
#include "digraph/compute/forest.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

enum {
  LIGHT = 4, /* edges of each node that are sorted first */
  /* Of so many words of a set of nodes one is looked at, to see which edges are
     light. */
  SAMPLE = 64,
  /* Weights by their highest bits: all below 2^(BITS + 1) apart. */
  BITS = 10,
  GROUPS = (33 - BITS) << BITS,
};

struct forest {
  struct pems_sorter *sorter;
  struct pems_error *error;
  int code;
  uint32_t *parent;
  uint32_t least, most; /* weights of this round */
  bool filter;          /* leave out what is within a tree: parents are roots */
  forest_take *take;
  void *arg;
  uint64_t weight, edges;
};

/* --- which edges are light --- */

struct sample {
  uint64_t of_group[GROUPS];
  uint64_t edges;
};

static uint32_t group_of(uint32_t weight) {
  const int high = weight >> BITS ? 31 - __builtin_clz(weight) - BITS : 0;
  return ((uint32_t)high << BITS) + (weight >> high);
}

/* The greatest weight of a group. */
static uint32_t end_of(uint32_t group) {
  const uint32_t high = group >> BITS ? (group >> BITS) - 1 : 0;
  const uint64_t next = (uint64_t)(group - (high << BITS) + 1) << high;
  return (uint32_t)(next - 1);
}

static void look(void *arg, uint32_t node, const struct digraph_edge *edge,
                 uint64_t n) {
  struct sample *const s = arg;
  (void)node;
  s->edges += n;
  for (uint64_t i = 0; i < n; i++) {
    s->of_group[group_of(edge[i].weight)]++;
  }
}

/* The weight up to which there are LIGHT edges of each node, about. */
static uint32_t light_of(const struct sample *s, const struct digraph *g) {
  if (!s->edges) {
    return UINT32_MAX;
  }
  const double share = (double)LIGHT * (double)g->nodes / (double)g->edges;
  const double wanted = share * (double)s->edges;
  uint64_t edges = 0;
  for (uint32_t group = 0; group < GROUPS; group++) {
    edges += s->of_group[group];
    if ((double)edges >= wanted) {
      return end_of(group);
    }
  }
  return UINT32_MAX;
}

static int find_light(struct rows *rows, const struct digraph *g,
                      uint32_t *light, struct pems_error *error) {
  struct sample *const s = calloc(1, sizeof(*s));
  uint64_t *const set = calloc(rows_set_words(g->nodes), sizeof(*set));
  int code = s && set ? 0
                      : digraph_failure(error, ENOMEM,
                                        "no memory for a forest: free some");
  for (uint64_t v = 0; v < g->nodes && !code; v++) {
    if (v / 64 % SAMPLE == 0) {
      rows_set_add(set, v);
    }
  }
  if (!code) {
    code = rows_sweep(rows, set, look, s, error);
  }
  if (!code) {
    *light = light_of(s, g);
  }
  free(s);
  free(set);
  return code;
}

/* --- rounds --- */

static bool is_wanted(const struct forest *f, uint32_t node,
                      const struct digraph_edge *edge) {
  return edge->to != node && edge->weight >= f->least &&
         edge->weight <= f->most &&
         !(f->filter && f->parent[node] == f->parent[edge->to]);
}

/* Of both directions and of several edges the sorter gets what the rows have:
   the second one joins nothing. Loops never do. */
static void push(void *arg, uint32_t node, const struct digraph_edge *edge,
                 uint64_t n) {
  struct forest *const f = arg;
  while (n && !f->code) {
    void *space;
    size_t room;
    f->code = pems_sorter_space(f->sorter, &space, &room, f->error);
    if (f->code) {
      return;
    }
    struct digraph_arc *const arc = space;
    size_t filled = 0;
    for (; n && filled < room; n--, edge++) {
      if (is_wanted(f, node, edge)) {
        arc[filled++] = (struct digraph_arc){node, edge->to, edge->weight};
      }
    }
    f->code = pems_sorter_filled(f->sorter, filled, f->error);
  }
}

static int take_all(struct forest *f) {
  const void *records;
  size_t n;
  int code;
  while (!(code = pems_sorter_pull(f->sorter, &records, &n, f->error)) && n) {
    const struct digraph_arc *const arc = records;
    for (size_t i = 0; i < n && !code; i++) {
      const uint32_t a = digraph_set_find(f->parent, arc[i].from);
      const uint32_t b = digraph_set_find(f->parent, arc[i].to);
      if (a == b) {
        continue;
      }
      digraph_set_join(f->parent, a, b);
      f->weight += arc[i].weight;
      f->edges++;
      code = f->take ? f->take(f->arg, &arc[i]) : 0;
    }
    if (code) {
      return code;
    }
  }
  return code;
}

uint64_t forest_memory(uint64_t nodes) {
  return nodes * sizeof(uint32_t);
}

static int make_sorter(struct forest *f,
                       const struct pems_sort_options *machine) {
  struct pems_sort_options options = *machine;
  options.record =
      (struct pems_record){.size = sizeof(struct digraph_arc),
                           .key = PEMS_KEY_U32,
                           .key_offset = offsetof(struct digraph_arc, weight),
                           .key_size = sizeof(uint32_t)};
  return pems_sorter_new(&f->sorter, &options, f->error);
}

static int round_of(struct forest *f, struct rows *rows,
                    const struct pems_sort_options *machine) {
  int code = make_sorter(f, machine);
  if (!code) {
    code = rows_sweep(rows, NULL, push, f, f->error);
    code = f->code ? f->code : code;
  }
  if (!code) {
    code = pems_sorter_finish(f->sorter, f->error);
  }
  if (!code) {
    code = take_all(f);
  }
  pems_sorter_free(f->sorter);
  f->sorter = NULL;
  return code;
}

/* Nothing is left to be found where all nodes are in one tree. */
static int all_rounds(struct forest *f, struct rows *rows,
                      const struct digraph *g,
                      const struct pems_sort_options *machine) {
  f->most = UINT32_MAX;
  int code = find_light(rows, g, &f->most, f->error);
  if (!code) {
    code = round_of(f, rows, machine);
  }
  if (code || f->most == UINT32_MAX || f->edges + 1 == g->nodes) {
    return code;
  }
  for (uint64_t v = 0; v < g->nodes; v++) {
    f->parent[v] = digraph_set_find(f->parent, (uint32_t)v);
  }
  f->filter = true;
  f->least = f->most + 1;
  f->most = UINT32_MAX;
  return round_of(f, rows, machine);
}

int forest_of_rows(struct rows *rows, const struct digraph *g,
                   const struct pems_sort_options *machine, forest_take *take,
                   void *arg, uint64_t *weight, uint64_t *edges,
                   struct pems_error *error) {
  struct forest f = {.error = error, .take = take, .arg = arg};
  f.parent = digraph_memory((g->nodes + 1) * sizeof(*f.parent), error);
  int code = f.parent ? 0 : ENOMEM;
  for (uint64_t v = 0; v < g->nodes && !code; v++) {
    f.parent[v] = (uint32_t)v;
  }
  if (!code) {
    code = all_rounds(&f, rows, g, machine);
  }
  free(f.parent);
  *weight = f.weight;
  *edges = f.edges;
  return code;
}
