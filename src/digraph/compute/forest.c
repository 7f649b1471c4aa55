#include "digraph/compute/forest.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

struct forest {
  struct pems_sorter *sorter;
  struct pems_error *error;
  int code;
  uint32_t *parent;
  forest_take *take;
  void *arg;
  uint64_t weight, edges;
};

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
      if (edge->to != node) {
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

int forest_of_rows(struct rows *rows, const struct digraph *g,
                   const struct pems_sort_options *machine, forest_take *take,
                   void *arg, uint64_t *weight, uint64_t *edges,
                   struct pems_error *error) {
  struct forest f = {.error = error, .take = take, .arg = arg};
  f.parent = digraph_memory((g->nodes + 1) * sizeof(*f.parent), error);
  int code = f.parent ? make_sorter(&f, machine) : ENOMEM;
  for (uint64_t v = 0; v < g->nodes && !code; v++) {
    f.parent[v] = (uint32_t)v;
  }
  if (!code) {
    code = rows_sweep(rows, NULL, push, &f, error);
    code = f.code ? f.code : code;
  }
  if (!code) {
    code = pems_sorter_finish(f.sorter, error);
  }
  if (!code) {
    code = take_all(&f);
  }
  pems_sorter_free(f.sorter);
  free(f.parent);
  *weight = f.weight;
  *edges = f.edges;
  return code;
}
