/* In which order a node pulls from its inputs.

   Where a stream branches and is joined again, pulling from one input may be
   what fills the asynchronous node in front of another. Then the other comes
   later: else the thread would wait for what only it can bring. */
#include "em/stream/stream_scan.h"

#include <stdbool.h>

static bool feeds_down(const struct pems_node *n);

/* True if pulling from n pushes, in the same thread, into a marked asynchronous
   node. */
static bool feeds_up(const struct pems_node *n) {
  if (n->kind->cut != CUT_NONE) {
    return false;
  }
  for (int i = 0; i < n->inputs; i++) {
    if (!n->in_edge[i]->push && feeds_up(n->in_edge[i]->from)) {
      return true;
    }
  }
  for (int i = 0; i < n->outputs; i++) {
    if (n->out_edge[i]->push && feeds_down(n->out_edge[i]->to)) {
      return true;
    }
  }
  return false;
}

/* And pushing into n. */
static bool feeds_down(const struct pems_node *n) {
  if (n->kind->cut != CUT_NONE) {
    return n->kind->cut == CUT_ASYNC && n->mark;
  }
  return feeds_up(n);
}

/* Marks all from which n gets records in this phase. */
static void mark_sources(struct pems_node *n) {
  if (n->mark || n->kind->cut == CUT_SORTER) {
    return;
  }
  n->mark = 1;
  for (int i = 0; i < n->inputs; i++) {
    mark_sources(n->in_edge[i]->from);
  }
}

static bool feeds(const struct pems_node *node, int a, int b) {
  const struct graph_edge *const ea = node->in_edge[a], *const eb =
                                                            node->in_edge[b];
  if (ea->push || eb->push) {
    return false;
  }
  for (struct pems_node *n = node->graph->first; n; n = n->next) {
    n->mark = 0;
  }
  mark_sources(eb->from);
  return feeds_up(ea->from);
}

/* True if no other input that has no place yet feeds input i. */
static bool may_come(const struct pems_node *node, const int *placed, int i) {
  for (int k = 0; k < node->inputs; k++) {
    if (k != i && !placed[k] && feeds(node, k, i)) {
      return false;
    }
  }
  return true;
}

/* The first that may come, or of those that feed each other the first. */
static int next(const struct pems_node *node, const int *placed) {
  int first = -1;
  for (int i = 0; i < node->inputs; i++) {
    if (placed[i]) {
      continue;
    }
    if (may_come(node, placed, i)) {
      return i;
    }
    first = first < 0 ? i : first;
  }
  return first;
}

void stream_order(const struct pems_node *node, int *order, int *placed) {
  for (int n = 0; n < node->inputs; n++) {
    order[n] = next(node, placed);
    placed[order[n]] = 1;
  }
}
