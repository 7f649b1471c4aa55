/* The program as a source or sink of a graph. */
#include <errno.h>
#include <stdbool.h>

#include "base/failure.h"
#include "base/forked.h"
#include "em/stream/graph.h"

struct hand_node {
  struct pems_node node;
  size_t lent; /* records that the program looks at */
};

static struct hand_node *hand_of(struct pems_node *node) {
  return (struct hand_node *)node;
}

struct pems_node *pems_node_hand_source(struct pems_graph *graph,
                                        const char *name, size_t size) {
  static const struct graph_node_kind kind = {
      .name = "hand source",
      .bytes = sizeof(struct hand_node),
      .look = LOOK_FILE,
      .edges = OUT_PUSH,
      .lends = 1,
      .by_hand = true,
      .starts = 1,
  };
  struct hand_node *const h = stream_node_new(graph, &kind, name, 0, 1);
  if (!h) {
    return NULL;
  }
  stream_node_sizes(&h->node, size, size);
  return &h->node;
}

struct pems_node *pems_node_hand_sink(struct pems_graph *graph,
                                      const char *name) {
  static const struct graph_node_kind kind = {
      .name = "hand sink",
      .bytes = sizeof(struct hand_node),
      .look = LOOK_FILE,
      .edges = IN_PULL,
      .reads = 1,
      .passes = 1,
      .by_hand = true,
  };
  struct hand_node *const h = stream_node_new(graph, &kind, name, 1, 0);
  return h ? &h->node : NULL;
}

static int misuse(const struct pems_node *node, const char *what,
                  struct pems_error *error) {
  return failure(error, EINVAL, "stream node %s: %s: %s",
                 node ? node->name : "NULL", what,
                 "is not what the graph waits for now");
}

int pems_node_push(struct pems_node *node, const void *records, size_t n,
                   struct pems_error *error) {
  if (node && forked_since(node->graph->born)) {
    return forked_refuse("stream graph", error);
  }
  if (!node || !node->outputs || !graph_hand_turn(node)) {
    return misuse(node, "pushed to by hand", error);
  }
  if (n == 0) {
    return graph_hand_done(node, stream_edge_end(node_out(node)), error);
  }
  const int code = graph_failed(node->graph)
                       ? ECANCELED
                       : stream_edge_give(node_out(node), records, n);
  return code ? graph_hand_done(node, code, error) : 0;
}

int pems_node_pull(struct pems_node *node, const void **records, size_t *n,
                   struct pems_error *error) {
  const char *at = NULL;
  *n = 0;
  if (node && forked_since(node->graph->born)) {
    return forked_refuse("stream graph", error);
  }
  if (!node || !node->inputs || !graph_hand_turn(node)) {
    return misuse(node, "pulled from by hand", error);
  }
  struct hand_node *const h = hand_of(node);
  stream_edge_used(node_in(node), h->lent);
  h->lent = 0;
  const int code = graph_failed(node->graph)
                       ? ECANCELED
                       : stream_edge_view(node_in(node), &at, n);
  *records = at;
  h->lent = code ? 0 : *n;
  return code || *n == 0 ? graph_hand_done(node, code, error) : 0;
}
