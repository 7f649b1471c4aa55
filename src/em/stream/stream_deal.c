/* Round-robin parallelism: distribute, collect and connect (figure 7 of the
   paper). */
#include <errno.h>

#include "em/stream/graph.h"

#define CHUNK 4096 /* records */

struct deal_node {
  struct pems_node node;
  size_t chunk; /* records for each in turn */
  int now;      /* whose turn it is */
  size_t left;  /* of its chunk */
  size_t lent;  /* of the input whose turn it is, that are lent on */
  int strict;   /* all inputs must have had their turn */
  int over;     /* an input of a strict one has ended */
};

static struct deal_node *deal_of(const struct pems_node *node) {
  return (struct deal_node *)node;
}

static void turn(struct deal_node *d, int of) {
  d->now = d->now + 1 < of ? d->now + 1 : 0;
  d->left = d->chunk;
}

static struct pems_node *make(struct pems_graph *graph,
                              const struct graph_node_kind *kind,
                              const char *name, int inputs, int outputs,
                              size_t chunk) {
  if (inputs < 1 || outputs < 1) {
    return graph_wrong(graph, EINVAL,
                       "%s node %s: no inputs or outputs: give it some",
                       kind->name, name ? name : "without a name");
  }
  struct deal_node *const d =
      stream_node_new(graph, kind, name, inputs, outputs);
  if (!d) {
    return NULL;
  }
  d->chunk = d->left = chunk ? chunk : CHUNK;
  return &d->node;
}

/* --- distribute --- */

static int distribute_space(struct pems_node *node, char **space,
                            size_t *room) {
  const struct deal_node *const d = deal_of(node);
  const int code = stream_edge_space(node->out_edge[d->now], space, room);
  *room = *room < d->left ? *room : d->left;
  return code;
}

static int distribute_filled(struct pems_node *node, size_t n) {
  struct deal_node *const d = deal_of(node);
  const int code = stream_edge_filled(node->out_edge[d->now], n);
  d->left -= n;
  if (d->left == 0) {
    turn(d, node->outputs);
  }
  return code;
}

static int distribute_end(struct pems_node *node) {
  int code = 0;
  for (int i = 0; i < node->outputs && !code; i++) {
    code = stream_edge_end(node->out_edge[i]);
  }
  return code;
}

struct pems_node *pems_node_distribute(struct pems_graph *graph,
                                       const char *name, int outputs,
                                       size_t chunk) {
  static const struct graph_node_kind kind = {
      .name = "distribute",
      .bytes = sizeof(struct deal_node),
      .look = LOOK_DEAL,
      .edges = IN_PUSH | OUT_PUSH,
      .passes = 1,
      .space = distribute_space,
      .filled = distribute_filled,
      .end = distribute_end,
  };
  return make(graph, &kind, name, 1, outputs, chunk);
}

/* --- collect --- */

/* The edge from a distribute node along which all comes that comes along this
   one; or NULL. */
static const struct graph_edge *dealt(const struct graph_edge *e) {
  while (e->from->kind->space != distribute_space) {
    if (e->from->inputs != 1 || e->from->kind->cut == CUT_SORTER) {
      return NULL;
    }
    e = node_in(e->from);
  }
  return e;
}

/* If the inputs come from one distribute node, in its order. */
static int collect_begin(struct pems_node *node, int side) {
  struct deal_node *const d = deal_of(node);
  const struct graph_edge *const first = dealt(node->in_edge[0]);
  (void)side;
  d->strict = !!first;
  for (int i = 0; i < node->inputs && first; i++) {
    const struct graph_edge *const e = dealt(node->in_edge[i]);
    d->strict &= e && e->from == first->from && e->output == i;
  }
  d->strict = d->strict && first->from->outputs == node->inputs;
  if (d->strict && deal_of(first->from)->chunk != d->chunk) {
    return stream_node_fail(
        node, EINVAL,
        "chunks of %zu records, but node %s deals chunks of %zu: "
        "give both the same",
        d->chunk, first->from->name, deal_of(first->from)->chunk);
  }
  return 0;
}

static int out_of_step(struct pems_node *node) {
  return stream_node_fail(
      node, EINVAL,
      "input %d has not as many records as were distributed to "
      "it: make one record of each, or leave distributing out",
      deal_of(node)->now);
}

/* The next batch of the input whose turn it is, or the end of all. */
static int next(struct pems_node *node, const char **at, size_t *n) {
  struct deal_node *const d = deal_of(node);
  for (int ended = 0; ended < node->inputs; ended++) {
    const int code = stream_edge_view(node->in_edge[d->now], at, n);
    if (code) {
      return code;
    }
    if (*n > 0 && d->over) {
      return out_of_step(node);
    }
    if (*n > 0) {
      return 0;
    }
    d->over = d->strict;
    turn(d, node->inputs);
  }
  return 0;
}

static int collect_lend(struct pems_node *node, const char **at, size_t *n) {
  struct deal_node *const d = deal_of(node);
  stream_edge_used(node->in_edge[d->now], d->lent);
  d->left -= d->lent;
  d->lent = 0;
  if (d->left == 0) {
    turn(d, node->inputs);
  }
  const int code = next(node, at, n);
  if (code) {
    return code;
  }
  *n = *n < d->left ? *n : d->left;
  d->lent = *n;
  return 0;
}

struct pems_node *pems_node_collect(struct pems_graph *graph, const char *name,
                                    int inputs, size_t chunk) {
  static const struct graph_node_kind kind = {
      .name = "collect",
      .bytes = sizeof(struct deal_node),
      .look = LOOK_DEAL,
      .edges = IN_PULL | OUT_PULL,
      .lends = 1,
      .reads = 1,
      .passes = 1,
      .begin = collect_begin,
      .lend = collect_lend,
  };
  return make(graph, &kind, name, inputs, 1, chunk);
}

/* --- connect --- */

static int connect_drive(struct pems_node *node) {
  const char *at;
  size_t n;
  int code = 0;
  do {
    if (graph_failed(node->graph)) {
      return ECANCELED;
    }
    code = stream_edge_view(node_in(node), &at, &n);
    if (!code) {
      code = stream_edge_give(node_out(node), at, n);
    }
    if (!code) {
      stream_edge_used(node_in(node), n);
    }
  } while (!code && n > 0);
  return code ? code : stream_edge_end(node_out(node));
}

struct pems_node *pems_node_connect(struct pems_graph *graph,
                                    const char *name) {
  static const struct graph_node_kind kind = {
      .name = "connect",
      .bytes = sizeof(struct deal_node),
      .look = LOOK_DEAL,
      .edges = IN_PULL | OUT_PUSH,
      .lends = 1,
      .reads = 1,
      .passes = 1,
      .drive = connect_drive,
  };
  return make(graph, &kind, name, 1, 1, 0);
}
