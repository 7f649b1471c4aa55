/* The end of graphs. */
#include "em/stream/graph.h"

#include "base/forked.h"
#include "os/lock.h"
#include "os/native.h"

static void free_node(struct pems_node *node) {
  if (node->kind->close) {
    node->kind->close(node);
  }
  stream_node_free_ports(node);
  native_free(node);
}

void pems_graph_free(struct pems_graph *graph) {
  /* A child cannot wait for what threads of its parent do. */
  if (!graph || forked_since(graph->born)) {
    return;
  }
  graph_stop(graph);
  for (struct pems_node *n = graph->first, *next; n; n = next) {
    next = n->next;
    free_node(n);
  }
  for (struct graph_edge *e = graph->edges, *next; e; e = next) {
    next = e->next;
    native_free(e);
  }
  if (graph->own_disks) {
    pems_disks_close(graph->disks);
  }
  native_free(graph->order);
  native_free(graph->component);
  native_free(graph->task);
  memory_destroy(&graph->memory);
  lock_destroy(&graph->lock);
  native_free(graph);
}
