/* A graph's edges as seen from both ends. */
#ifndef PEMS_DIGRAPH_UNDIRECTED_H
#define PEMS_DIGRAPH_UNDIRECTED_H

#include "digraph/digraph.h"

struct undirected {
  uint64_t *first; /* nodes + 1 */
  struct digraph_edge *edge;
};

/* A copy in which each edge is in the rows of both its ends: the graph's own
   edges where it has each in both directions already, with the same weight,
   else twice as many. 0 or ENOMEM, and nothing is to be freed then. */
int undirected_copy(struct undirected *u, const struct digraph *g);
/* Orders all rows by node, as they are in the beginning. */
void undirected_restore(struct undirected *u, uint64_t nodes);
void undirected_free(struct undirected *u);

/* Orders a row by weight. */
void undirected_order(struct digraph_edge *edge, uint64_t n);

#endif
