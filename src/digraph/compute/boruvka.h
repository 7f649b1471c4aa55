/* Components of a graph that grow together along their lightest edges, by many
   threads: what Boruvka's algorithm needs.

   A component is known by one of its nodes, its root (union-find). Its edges
   are the rows of its nodes, each ordered by weight, and a pairing heap of the
   nodes by the lightest edge that each has left: two components are merged in
   constant time. Edges that have come to lie inside are dropped once they are
   at the front. */
#ifndef PEMS_DIGRAPH_BORUVKA_H
#define PEMS_DIGRAPH_BORUVKA_H

#include <stdatomic.h>
#include <stdint.h>

#include "digraph/compute/undirected.h"

struct boruvka_node {
  _Atomic uint32_t parent;
  /* The rest belongs to who has locked the node's root. */
  uint32_t child, sibling; /* in the heap */
  uint32_t weight;         /* of the edge at `at` */
  uint64_t at;             /* the next edge */
  /* Of roots: */
  uint64_t degree; /* edges that were not dropped */
  uint32_t top;    /* of the heap */
  uint32_t stamp;  /* how often it was merged */
  _Atomic uint32_t locked;
  uint32_t ready; /* its row is in order, and it is in its heap */
};

struct boruvka {
  uint64_t nodes;
  const uint64_t *first;
  struct digraph_edge *edge; /* orders rows */
  struct boruvka_node *node;
  /* The edge that a node's merge took while it was a root: of every node that
     is none at the end. NULL: not asked for. */
  struct digraph_arc *taken;
};

/* Every node on its own, with nothing looked at; rows may be in any order. */
void boruvka_reset(struct boruvka *b);

/* What came of an attempt. */
enum boruvka_result {
  BORUVKA_MERGED, /* *root and *stamp are the new component's */
  BORUVKA_ALONE,  /* no edge leads out */
  BORUVKA_STALE,  /* the component is another one by now */
  BORUVKA_BUSY,   /* its neighbour is: try again later */
};
/* Merges a component, which had this stamp, with its nearest neighbour; adds
   the edge's weight to *weight. */
enum boruvka_result boruvka_merge(struct boruvka *b, uint32_t *root,
                                  uint32_t *stamp, uint64_t *degree,
                                  uint64_t *weight);

#endif
