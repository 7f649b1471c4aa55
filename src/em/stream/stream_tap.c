/* Nodes that look at records as they pass: they lend and write, read and offer
   as their neighbour does, so that nothing is copied for them. */
#include <errno.h>
#include <stdbool.h>

#include "em/stream/graph.h"
#include "os/clock.h"

struct tap_node {
  struct pems_node node;
  pems_look_fn *fn;
  void *arg;
  char *space; /* that a push is under way to */
  size_t lent; /* records of the input that are lent on */
};

static struct tap_node *tap_of(struct pems_node *node) {
  return (struct tap_node *)node;
}

static int look(struct pems_node *node, const char *at, size_t n) {
  const struct tap_node *const t = tap_of(node);
  struct pems_error error = {.code = 0};
  if (n == 0) {
    return 0;
  }
  const uint64_t begin = clock_ns();
  const int code = t->fn(t->arg, at, n, &error);
  node->busy_ns += clock_ns() - begin;
  node->calls++;
  return code ? stream_node_fail_with(node, code, &error) : 0;
}

static int tap_lend(struct pems_node *node, const char **at, size_t *n) {
  struct tap_node *const t = tap_of(node);
  stream_edge_used(node_in(node), t->lent);
  t->lent = 0;
  const int code = stream_edge_view(node_in(node), at, n);
  if (code) {
    return code;
  }
  t->lent = *n;
  return look(node, *at, *n);
}

static int tap_fill(struct pems_node *node, char *space, size_t room,
                    size_t *n) {
  const int code = stream_edge_draw(node_in(node), space, room, n);
  return code ? code : look(node, space, *n);
}

static int tap_space(struct pems_node *node, char **space, size_t *room) {
  const int code = stream_edge_space(node_out(node), space, room);
  tap_of(node)->space = *space;
  return code;
}

static int tap_filled(struct pems_node *node, size_t n) {
  const int code = look(node, tap_of(node)->space, n);
  return code ? code : stream_edge_filled(node_out(node), n);
}

static int tap_take(struct pems_node *node) {
  const char *at;
  size_t n;
  int code = stream_edge_view(node_in(node), &at, &n);
  if (!code) {
    code = look(node, at, n);
  }
  if (!code) {
    code = stream_edge_give(node_out(node), at, n);
  }
  stream_edge_used(node_in(node), n);
  return code;
}

static int tap_end(struct pems_node *node) {
  return stream_edge_end(node_out(node));
}

/* Where it pulls and pushes. */
static int tap_drive(struct pems_node *node) {
  int code = 0;
  do {
    if (graph_failed(node->graph)) {
      return ECANCELED;
    }
    code = tap_take(node);
  } while (!code && !node_in(node)->ended);
  return code ? code : tap_end(node);
}

struct pems_node *pems_node_tap(struct pems_graph *graph, const char *name,
                                pems_look_fn *fn, void *arg, size_t size) {
  static const struct graph_node_kind kind = {
      .name = "tap",
      .bytes = sizeof(struct tap_node),
      .look = LOOK_SCAN,
      .edges = ANY,
      .transparent = true,
      .passes = 1,
      .lend = tap_lend,
      .fill = tap_fill,
      .space = tap_space,
      .filled = tap_filled,
      .take = tap_take,
      .end = tap_end,
      .drive = tap_drive,
  };
  if (!fn) {
    return graph_wrong(graph, EINVAL, "tap node %s: no callback: give it one",
                       name ? name : "without a name");
  }
  struct tap_node *const t = stream_node_new(graph, &kind, name, 1, 1);
  if (!t) {
    return NULL;
  }
  t->fn = fn;
  t->arg = arg;
  stream_node_sizes(&t->node, size, size);
  return &t->node;
}
