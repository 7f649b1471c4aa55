/* Looking for mistakes in a graph. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/failure.h"
#include "em/stream/graph.h"
#include "os/native.h"

int stream_node_wrong(const struct pems_node *node, struct pems_error *error,
                      const char *format, ...) {
  char text[400];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof(text), format, list);
  va_end(list);
  return failure(error, EINVAL, "stream node %s: %s", node->name, text);
}

/* --- each node for itself --- */

static int check_connected(const struct pems_node *n,
                           struct pems_error *error) {
  if (n->in_connected < n->inputs) {
    return stream_node_wrong(n, error, "input %d is not connected: connect it",
                             n->in_connected);
  }
  if (n->out_connected < n->outputs) {
    return stream_node_wrong(
        n, error,
        "output %d is not connected: connect it, to a sink if "
        "to nothing else",
        n->out_connected);
  }
  return 0;
}

static int check_kinds(const struct pems_node *n, struct pems_error *error) {
  const unsigned allowed = n->kind->edges;
  for (int i = 0; i < n->inputs; i++) {
    const struct graph_edge *const e = n->in_edge[i];
    if (!(allowed & (e->push ? IN_PUSH : IN_PULL))) {
      return stream_node_wrong(n, error, "%s %s, but its input must be %s",
                               e->push ? "is pushed into by" : "pulls from",
                               e->from->name, e->push ? "pulled" : "pushed");
    }
  }
  for (int i = 0; i < n->outputs; i++) {
    const struct graph_edge *const e = n->out_edge[i];
    if (!(allowed & (e->push ? OUT_PUSH : OUT_PULL))) {
      return stream_node_wrong(n, error, "%s %s, but its output must be %s",
                               e->push ? "pushes into" : "is pulled from by",
                               e->to->name, e->push ? "pulled" : "pushed");
    }
  }
  return 0;
}

/* --- who drives it --- */

/* The k-th node that drives this one, or NULL. */
static const struct pems_node *driver(const struct pems_node *n, int k) {
  for (int i = 0; i < n->inputs; i++) {
    if (n->in_edge[i]->push && k-- == 0) {
      return n->in_edge[i]->from;
    }
  }
  for (int i = 0; i < n->outputs; i++) {
    if (!n->out_edge[i]->push && k-- == 0) {
      return n->out_edge[i]->to;
    }
  }
  return NULL;
}

int stream_node_is_root(const struct pems_node *node, int side) {
  if (node->kind->cut == CUT_NONE) {
    return side == SIDE_IN && !driver(node, 0);
  }
  return side == SIDE_IN ? !node_in(node)->push : node_out(node)->push;
}

static int check_drivers(const struct pems_node *n, struct pems_error *error) {
  if (n->kind->cut != CUT_NONE || !driver(n, 1)) {
    return 0;
  }
  return stream_node_wrong(
      n, error,
      "both %s and %s drive it, pushing into it or pulling from "
      "it: turn an edge round, or put a push-pull node into it",
      driver(n, 0)->name, driver(n, 1)->name);
}

static int check_nodes(const struct pems_graph *g, struct pems_error *error) {
  int code = 0;
  for (const struct pems_node *n = g->first; n && !code; n = n->next) {
    code = check_connected(n, error);
    if (!code) {
      code = check_kinds(n, error);
    }
    if (!code) {
      code = check_drivers(n, error);
    }
  }
  return code;
}

static int check_primary(const struct pems_graph *g, struct pems_error *error) {
  const struct pems_node *const p = g->primary;
  if (!p || p->graph != g) {
    return failure(error, EINVAL,
                   "stream graph: the primary sink %s is not a node of it: "
                   "give one that is",
                   p ? p->name : "NULL");
  }
  if (p->kind->cut != CUT_NONE || driver(p, 0)) {
    return stream_node_wrong(
        p, error,
        "is no primary sink, for %s drives it: start the graph "
        "at the node from which all others are pulled",
        driver(p, 0) ? driver(p, 0)->name : "another");
  }
  return 0;
}

/* --- order --- */

/* A node of a cycle, given one whose predecessors are never all in order. */
static const struct pems_node *in_cycle(const struct pems_node *n) {
  for (int steps = n->graph->nodes; steps > 0; steps--) {
    for (int i = 0; i < n->inputs; i++) {
      if (n->in_edge[i]->from->mark > 0) {
        n = n->in_edge[i]->from;
        break;
      }
    }
  }
  return n;
}

/* Producers before consumers. `mark` counts inputs whose producers are not in
   order yet. */
static int sort_nodes(struct pems_graph *g, struct pems_error *error) {
  int n = 0;
  native_free(g->order);
  g->order = native_zalloc((size_t)g->nodes, sizeof(*g->order));
  if (!g->order) {
    return failure(error, ENOMEM, "stream graph: no memory: free some");
  }
  for (struct pems_node *p = g->first; p; p = p->next) {
    p->mark = p->inputs;
    if (p->mark == 0) {
      g->order[n++] = p;
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < g->order[i]->outputs; j++) {
      if (--g->order[i]->out_edge[j]->to->mark == 0) {
        g->order[n++] = g->order[i]->out_edge[j]->to;
      }
    }
  }
  for (const struct pems_node *p = g->first; p; p = p->next) {
    if (p->mark > 0) {
      return stream_node_wrong(
          in_cycle(p), error,
          "is part of a cycle: break it, with a file perhaps");
    }
  }
  return 0;
}

/* --- sizes and types --- */

static bool differ(const char *a, const char *b) {
  return a && b && strcmp(a, b) != 0;
}

static int check_input(struct pems_node *n, int i, struct pems_error *error) {
  const struct graph_edge *const e = n->in_edge[i];
  const struct pems_port *const from = &e->from->out[e->output];
  struct pems_port *const to = &n->in[i];
  if (to->size == 0) {
    to->size = from->size;
  }
  if (to->size != from->size) {
    return stream_node_wrong(
        n, error,
        "takes records of %zu bytes, but node %s makes such of "
        "%zu: make them equal",
        to->size, e->from->name, from->size);
  }
  if (differ(to->type, from->type)) {
    return stream_node_wrong(
        n, error,
        "takes records of type %s, but node %s makes such of "
        "type %s: make them equal",
        to->type, e->from->name, from->type);
  }
  if (!to->type) {
    to->type = from->type;
  }
  return 0;
}

/* Nodes that pass records on make what they take. */
static int pass(struct pems_node *n, struct pems_error *error) {
  for (int i = 1; i < n->inputs; i++) {
    if (n->in[i].size != n->in->size) {
      return stream_node_wrong(
          n, error,
          "takes records of %zu bytes from %s, but of %zu from "
          "%s: make them equal",
          n->in->size, n->in_edge[0]->from->name, n->in[i].size,
          n->in_edge[i]->from->name);
    }
  }
  for (int i = 0; i < n->outputs; i++) {
    n->out[i].size = n->in->size;
    if (!n->out[i].type) {
      n->out[i].type = n->in->type;
    }
  }
  return 0;
}

/* Then sizes can be added up and multiplied. */
static int check_port(const struct pems_node *n, struct pems_port *port,
                      const char *what, int i, struct pems_error *error) {
  const size_t most = (size_t)1 << 40;
  if (port->size == 0) {
    return stream_node_wrong(
        n, error, "%s %d: records of 0 bytes: give their size", what, i);
  }
  port->least += port->least == 0;
  if (port->size > most || port->least > most / port->size) {
    return stream_node_wrong(
        n, error, "%s %d: %zu records of %zu bytes at once: are too much", what,
        i, port->least, port->size);
  }
  return 0;
}

static int check_ports(struct pems_node *n, struct pems_error *error) {
  int code = 0;
  for (int i = 0; i < n->inputs && !code; i++) {
    code = check_port(n, &n->in[i], "input", i, error);
  }
  for (int i = 0; i < n->outputs && !code; i++) {
    code = check_port(n, &n->out[i], "output", i, error);
    n->out_edge[i]->size = n->out[i].size;
    n->out_edge[i]->type = n->out[i].type;
  }
  return code;
}

static int check_sizes(struct pems_graph *g, struct pems_error *error) {
  int code = 0;
  for (int k = 0; k < g->nodes && !code; k++) {
    struct pems_node *const n = g->order[k];
    for (int i = 0; i < n->inputs && !code; i++) {
      code = check_input(n, i, error);
    }
    if (!code && n->kind->passes && n->inputs > 0) {
      code = pass(n, error);
    }
    if (!code && n->kind->sizes) {
      code = n->kind->sizes(n, error);
    }
    if (!code) {
      code = check_ports(n, error);
    }
  }
  return code;
}

/* --- reaching --- */

static int reach(struct pems_node *n) {
  const int new = !n->mark;
  n->mark = 1;
  return new;
}

/* Goes on from nodes that are reached; true if it reached another. */
static int spread(struct pems_node *n) {
  int more = 0;
  for (int i = 0; i < n->inputs; i++) {
    if (!n->in_edge[i]->push) {
      more |= reach(n->in_edge[i]->from);
    }
  }
  for (int i = 0; i < n->outputs; i++) {
    if (n->out_edge[i]->push) {
      more |= reach(n->out_edge[i]->to);
    }
  }
  return more;
}

static int check_reached(struct pems_graph *g, struct pems_error *error) {
  for (struct pems_node *n = g->first; n; n = n->next) {
    n->mark = n == g->primary || n->kind->starts;
  }
  for (int more = 1; more;) {
    more = 0;
    for (struct pems_node *n = g->first; n; n = n->next) {
      if (n->starter && n->starter->mark) {
        more |= reach(n);
      }
      if (n->mark) {
        more |= spread(n);
      }
    }
  }
  for (const struct pems_node *n = g->first; n; n = n->next) {
    if (!n->mark) {
      return stream_node_wrong(
          n, error,
          "cannot be reached from the primary sink %s, along "
          "pull edges backwards and push edges forwards: push "
          "to it, or use pems_edge_start",
          g->primary->name);
    }
  }
  return 0;
}

int graph_check(struct pems_graph *graph, struct pems_error *error) {
  if (graph->wrong.code) {
    return failure(error, graph->wrong.code, "%s", graph->wrong.text);
  }
  int code = check_nodes(graph, error);
  if (!code) {
    code = check_primary(graph, error);
  }
  if (!code) {
    code = sort_nodes(graph, error);
  }
  if (!code) {
    code = check_sizes(graph, error);
  }
  if (!code) {
    code = check_reached(graph, error);
  }
  return code;
}
