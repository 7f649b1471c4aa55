/* Making graphs, nodes and edges. */
#include "em/stream/graph.h"
#include "base/extensible.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/failure.h"
#include "base/forked.h"
#include "os/lock.h"
#include "os/native.h"

/* --- graphs --- */

struct pems_graph *pems_graph_new(const struct pems_graph_options *options) {
  struct pems_graph *const g = native_zalloc(1, sizeof(*g));
  if (!g) {
    return NULL;
  }
  /* NULL is all that a caller is told. */
  if (extensible_copy(&g->o, sizeof(g->o), options, sizeof(g->o),
                      "graph options", NULL)) {
    native_free(g);
    return NULL;
  }
  g->last = &g->first;
  g->last_edge = &g->edges;
  g->born = forked_now();
  lock_init(&g->lock, LOCK_GRAPH);
  memory_init(&g->memory, UINT64_MAX);
  return g;
}

void stream_node_free_ports(struct pems_node *n) {
  native_free(n->in);
  native_free(n->out);
  native_free(n->in_edge);
  native_free(n->out_edge);
}

void *graph_wrong(struct pems_graph *graph, int code, const char *format, ...) {
  if (graph && !graph->wrong.code) {
    va_list list;
    va_start(list, format);
    vsnprintf(graph->wrong.text, sizeof(graph->wrong.text), format, list);
    va_end(list);
    graph->wrong.code = code;
  }
  return NULL;
}

size_t graph_batch(const struct pems_graph *graph) {
  return graph->o.batch ? graph->o.batch : (size_t)64 << 10;
}

size_t graph_buffer(const struct pems_graph *graph) {
  const size_t least = (size_t)16 << 10, most = (size_t)1 << 20;
  const uint64_t share = graph->o.memory / 256 & ~(uint64_t)4095;
  return share < least ? least : share > most ? most : (size_t)share;
}

/* --- nodes --- */

static bool make_ports(struct pems_node *n) {
  n->in = native_zalloc((size_t)n->inputs + 1, sizeof(*n->in));
  n->out = native_zalloc((size_t)n->outputs + 1, sizeof(*n->out));
  n->in_edge =
      native_zalloc((size_t)n->inputs + 1, sizeof(struct graph_edge *));
  n->out_edge =
      native_zalloc((size_t)n->outputs + 1, sizeof(struct graph_edge *));
  return n->in && n->out && n->in_edge && n->out_edge;
}

void *stream_node_new(struct pems_graph *graph,
                      const struct graph_node_kind *kind, const char *name,
                      int inputs, int outputs) {
  if (!graph) {
    return NULL;
  }
  struct pems_node *const n = native_zalloc(1, kind->bytes);
  if (!n) {
    return graph_wrong(graph, ENOMEM, "no memory: a %s node: free some",
                       kind->name);
  }
  n->graph = graph;
  n->kind = kind;
  n->inputs = inputs;
  n->outputs = outputs;
  n->number = graph->nodes++;
  snprintf(n->name, sizeof(n->name), "%s", name ? name : kind->name);
  if (!make_ports(n)) {
    stream_node_free_ports(n);
    native_free(n);
    return graph_wrong(graph, ENOMEM, "no memory: %d ports: free some",
                       inputs + outputs);
  }
  *graph->last = n;
  graph->last = &n->next;
  return n;
}

void stream_node_sizes(struct pems_node *node, size_t in, size_t out) {
  for (int i = 0; i < node->inputs; i++) {
    node->in[i].size = in;
  }
  for (int i = 0; i < node->outputs; i++) {
    node->out[i].size = out;
  }
}

void pems_node_types(struct pems_node *node, const char *in, const char *out) {
  for (int i = 0; node && i < node->inputs; i++) {
    node->in[i].type = in;
  }
  for (int i = 0; node && i < node->outputs; i++) {
    node->out[i].type = out;
  }
}

/* Pulls, and pushes: nothing can be asked of a neighbour. */
static bool pumps(const struct pems_node *node) {
  return !node_in(node)->push && node_out(node)->push;
}

int stream_node_lends(const struct pems_node *node) {
  if (!node->kind->transparent) {
    return node->kind->lends;
  }
  if (pumps(node)) {
    return 1;
  }
  return node_in(node)->push ? stream_node_reads(node_out(node)->to)
                             : stream_node_lends(node_in(node)->from);
}

int stream_node_reads(const struct pems_node *node) {
  if (!node->kind->transparent) {
    return node->kind->reads;
  }
  return stream_node_lends(node);
}

/* --- edges --- */

static struct graph_edge *new_edge(struct pems_node *from, struct pems_node *to,
                                   int push) {
  struct graph_edge *const e = native_zalloc(1, sizeof(*e));
  if (!e) {
    return graph_wrong(from->graph, ENOMEM, "no memory: an edge: free some");
  }
  e->from = from;
  e->to = to;
  e->push = push;
  *from->graph->last_edge = e;
  from->graph->last_edge = &e->next;
  return e;
}

static void connect(struct pems_node *from, struct pems_node *to, bool push) {
  if (!from || !to) {
    return;
  }
  struct pems_graph *const g = from->graph;
  const char *const verb = push ? "push" : "pull";
  if (g != to->graph) {
    graph_wrong(g, EINVAL,
                "stream node %s: is of another graph than node %s: make them "
                "in one",
                to->name, from->name);
  } else if (from->out_connected == from->outputs) {
    graph_wrong(g, EINVAL,
                "stream node %s: has %d outputs, all connected: %s edge to %s: "
                "put a branch behind it",
                from->name, from->outputs, verb, to->name);
  } else if (to->in_connected == to->inputs) {
    graph_wrong(g, EINVAL,
                "stream node %s: has %d inputs, all connected: %s edge from "
                "%s: put a join before it",
                to->name, to->inputs, verb, from->name);
  }
  if (g->wrong.code) {
    return;
  }
  struct graph_edge *const e = new_edge(from, to, push);
  if (!e) {
    return;
  }
  e->output = from->out_connected++;
  e->input = to->in_connected++;
  from->out_edge[e->output] = e;
  to->in_edge[e->input] = e;
}

void pems_edge_pull(struct pems_node *from, struct pems_node *to) {
  connect(from, to, false);
}

void pems_edge_push(struct pems_node *from, struct pems_node *to) {
  connect(from, to, true);
}

void pems_edge_start(struct pems_node *starter, struct pems_node *node) {
  if (starter && node) {
    node->starter = starter;
  }
}

/* --- counts --- */

void pems_node_counts(const struct pems_node *node,
                      struct pems_node_counts *counts) {
  *counts = (struct pems_node_counts){
      .calls = node->calls,
      .seconds = (double)node->busy_ns * 1e-9,
      .wait_seconds = (double)node->wait_ns * 1e-9,
      .memory = node->memory,
      .merge_memory = node->merge_memory,
      .threads = node->threads,
      .merge_threads = node->merge_threads,
  };
  if (node->graph->component) {
    counts->phase = node->graph->component[node->component[SIDE_IN]].phase;
  }
  for (int i = 0; i < node->in_connected; i++) {
    counts->records_in += node->in_edge[i]->records;
    counts->bytes_in += node->in_edge[i]->records * node->in_edge[i]->size;
  }
  for (int i = 0; i < node->out_connected; i++) {
    counts->records_out += node->out_edge[i]->records;
    counts->bytes_out += node->out_edge[i]->records * node->out_edge[i]->size;
  }
  if (node->kind->count) {
    node->kind->count(node, counts);
  }
}
