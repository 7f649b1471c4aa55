/* Cutting a graph: into components, which run at the same time; phases, which
   follow each other; and tasks, one thread each. */
#include <errno.h>
#include <stdbool.h>

#include "base/failure.h"
#include "em/stream/graph.h"
#include "os/native.h"

/* --- components: a forest over the sides of nodes --- */

static int side_of(const struct pems_node *n, int side) {
  return 2 * n->number + (n->kind->cut == CUT_NONE ? SIDE_IN : side);
}

static int root_of(int *parent, int i) {
  while (parent[i] != i) {
    i = parent[i] = parent[parent[i]];
  }
  return i;
}

static void unite(int *parent, int a, int b) {
  parent[root_of(parent, a)] = root_of(parent, b);
}

static void unite_all(const struct pems_graph *g, int *parent) {
  for (int i = 0; i < 2 * g->nodes; i++) {
    parent[i] = i;
  }
  for (const struct pems_node *n = g->first; n; n = n->next) {
    if (n->kind->cut != CUT_SORTER) {
      unite(parent, side_of(n, SIDE_IN), side_of(n, SIDE_OUT));
    }
  }
  for (const struct graph_edge *e = g->edges; e; e = e->next) {
    unite(parent, side_of(e->from, SIDE_OUT), side_of(e->to, SIDE_IN));
  }
}

/* Numbers them in the order in which records reach them. */
static void number_components(struct pems_graph *g, int *parent, int *number) {
  g->components = 0;
  for (int i = 0; i < 2 * g->nodes; i++) {
    number[i] = -1;
  }
  for (int k = 0; k < g->nodes; k++) {
    for (int side = SIDE_IN; side <= SIDE_OUT; side++) {
      struct pems_node *const n = g->order[k];
      const int root = root_of(parent, side_of(n, side));
      if (number[root] < 0) {
        number[root] = g->components++;
      }
      n->component[side] = number[root];
    }
  }
}

/* --- phases --- */

/* Each phase is the most sorters on a way to it; more than there are mean that
   some way leads round a sorter. */
static int number_phases(struct pems_graph *g, struct pems_error *error) {
  g->phases = 1;
  for (bool more = true; more;) {
    more = false;
    for (const struct pems_node *n = g->first; n; n = n->next) {
      const int after = g->component[n->component[SIDE_IN]].phase + 1;
      struct graph_component *const c = &g->component[n->component[SIDE_OUT]];
      if (n->kind->cut != CUT_SORTER || c->phase >= after) {
        continue;
      }
      if (after > g->nodes) {
        return stream_node_wrong(
            n, error,
            "what it sorts is joined with records that go round "
            "it, and all would have to wait: sort those, too, "
            "or put them into a file");
      }
      more = true;
      c->phase = after;
      g->phases = g->phases > after ? g->phases : after + 1;
    }
  }
  return 0;
}

/* --- batches --- */

static void choose_batches(struct pems_graph *g) {
  for (const struct graph_edge *e = g->edges; e; e = e->next) {
    struct graph_component *const c = &g->component[e->to->component[SIDE_IN]];
    const size_t batch = graph_batch(g) / e->size;
    c->batch = c->batch && c->batch < batch ? c->batch : batch + !batch;
  }
  for (const struct graph_edge *e = g->edges; e; e = e->next) {
    struct graph_component *const c = &g->component[e->to->component[SIDE_IN]];
    const size_t least =
        e->from->out[e->output].least + e->to->in[e->input].least - 1;
    c->batch = c->batch > least ? c->batch : least;
  }
}

/* --- tasks --- */

static int add_tasks(struct pems_graph *g, struct graph_task *task) {
  int n = 0;
  for (int k = 0; k < g->nodes; k++) {
    for (int side = SIDE_IN; side <= SIDE_OUT; side++) {
      struct pems_node *const node = g->order[k];
      if (!stream_node_is_root(node, side)) {
        continue;
      }
      if (task) {
        task[n] = (struct graph_task){
            .node = node, .side = side, .component = node->component[side]};
      }
      n++;
    }
  }
  return n;
}

static void mark_async(struct pems_graph *g) {
  for (const struct pems_node *n = g->first; n; n = n->next) {
    g->component[n->component[SIDE_IN]].async |= n->kind->cut == CUT_ASYNC;
  }
  for (int i = 1; i < g->tasks; i++) {
    for (int j = 0; j < i; j++) {
      if (g->task[i].component == g->task[j].component) {
        g->component[g->task[i].component].async = 1;
      }
    }
  }
}

/* --- steps: what runs at the same time --- */

void graph_steps(struct pems_graph *g, bool together) {
  g->steps = 0;
  for (int phase = 0; phase < g->phases; phase++) {
    int shared = -1;
    for (int i = 0; i < g->components; i++) {
      struct graph_component *const c = &g->component[i];
      if (c->phase != phase) {
        continue;
      }
      const bool joins = together && c->async;
      if (joins && shared < 0) {
        shared = g->steps++;
      }
      c->step = joins ? shared : g->steps++;
    }
  }
}

static int cut(struct pems_graph *g, int *scratch, struct pems_error *error) {
  unite_all(g, scratch);
  number_components(g, scratch, scratch + 2 * g->nodes);
  g->component = native_zalloc((size_t)g->components, sizeof(*g->component));
  if (!g->component) {
    return failure(error, ENOMEM, "stream graph: no memory: free some");
  }
  const int code = number_phases(g, error);
  if (code) {
    return code;
  }
  g->tasks = add_tasks(g, NULL);
  g->task = native_zalloc((size_t)g->tasks + 1, sizeof(*g->task));
  if (!g->task) {
    return failure(error, ENOMEM, "stream graph: no memory: free some");
  }
  add_tasks(g, g->task);
  mark_async(g);
  choose_batches(g);
  graph_steps(g, true);
  return 0;
}

int graph_phase(struct pems_graph *graph, struct pems_error *error) {
  int *const scratch =
      native_zalloc((size_t)graph->nodes * 4, sizeof(*scratch));
  native_free(graph->component);
  native_free(graph->task);
  graph->component = NULL;
  graph->task = NULL;
  if (!scratch) {
    return failure(error, ENOMEM, "stream graph: no memory: free some");
  }
  const int code = cut(graph, scratch, error);
  native_free(scratch);
  return code;
}
