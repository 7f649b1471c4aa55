/* Arrays as sources and sinks. */
#include <errno.h>
#include <stdbool.h>

#include "em/stream/graph.h"
#include "os/native.h"

struct memory_node {
  struct pems_node node;
  char *records;
  size_t n;      /* of a source: records; of a sink: room for them */
  size_t used;   /* of n */
  size_t *count; /* of a sink, or NULL */
  char *spare;   /* of a sink: where one too many goes */
};

static struct memory_node *memory_of(struct pems_node *node) {
  return (struct memory_node *)node;
}

/* In batches, so that they are still in the cache when they are passed on. */
static int source_lend(struct pems_node *node, const char **at, size_t *n) {
  struct memory_node *const m = memory_of(node);
  const size_t batch = graph_batch(node->graph) / node->out->size + 1;
  const size_t left = m->n - m->used;
  *at = m->records + m->used * node->out->size;
  *n = left < batch ? left : batch;
  m->used += *n;
  return 0;
}

static int sink_begin(struct pems_node *node, int side) {
  struct memory_node *const m = memory_of(node);
  (void)side;
  m->spare = native_alloc(node->in->size);
  return m->spare
             ? 0
             : stream_node_fail(node, ENOMEM, "no memory: %zu bytes: free some",
                                node->in->size);
}

static void sink_close(struct pems_node *node) {
  struct memory_node *const m = memory_of(node);
  native_free(m->spare);
  m->spare = NULL;
}

static int sink_space(struct pems_node *node, char **space, size_t *room) {
  const struct memory_node *const m = memory_of(node);
  const bool full = m->used == m->n;
  *space = full ? m->spare : m->records + m->used * node->in->size;
  *room = full ? 1 : m->n - m->used;
  return 0;
}

static int sink_filled(struct pems_node *node, size_t n) {
  struct memory_node *const m = memory_of(node);
  if (n > m->n - m->used) {
    return stream_node_fail(
        node, ENOSPC,
        "more records than there is room for: %zu: give it a "
        "larger array",
        m->n);
  }
  m->used += n;
  return 0;
}

static int sink_end(struct pems_node *node) {
  const struct memory_node *const m = memory_of(node);
  if (m->count) {
    *m->count = m->used;
  }
  return 0;
}

static struct pems_node *make(struct pems_graph *graph,
                              const struct graph_node_kind *kind,
                              const char *name, const void *records, size_t n,
                              size_t size) {
  const int inputs = !kind->lends;
  if (!records && n > 0) {
    return graph_wrong(graph, EINVAL, "%s node %s: no array: give it one",
                       kind->name, name ? name : "without a name");
  }
  struct memory_node *const m =
      stream_node_new(graph, kind, name, inputs, !inputs);
  if (!m) {
    return NULL;
  }
  m->records = (char *)records;
  m->n = n;
  stream_node_sizes(&m->node, size, size);
  return &m->node;
}

struct pems_node *pems_node_memory_source(struct pems_graph *graph,
                                          const char *name, const void *records,
                                          size_t n, size_t size) {
  static const struct graph_node_kind kind = {
      .name = "memory source",
      .bytes = sizeof(struct memory_node),
      .look = LOOK_FILE,
      .edges = OUT_PULL | OUT_PUSH,
      .lends = 1,
      .lend = source_lend,
  };
  return make(graph, &kind, name, records, n, size);
}

struct pems_node *pems_node_memory_sink(struct pems_graph *graph,
                                        const char *name, void *records,
                                        size_t room, size_t size, size_t *n) {
  static const struct graph_node_kind kind = {
      .name = "memory sink",
      .bytes = sizeof(struct memory_node),
      .look = LOOK_FILE,
      .edges = IN_PULL | IN_PUSH,
      .begin = sink_begin,
      .close = sink_close,
      .space = sink_space,
      .filled = sink_filled,
      .end = sink_end,
  };
  struct pems_node *const node = make(graph, &kind, name, records, room, size);
  if (node) {
    ((struct memory_node *)node)->count = n;
  }
  return node;
}
