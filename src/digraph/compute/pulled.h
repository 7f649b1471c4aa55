/* The edges of a graph in memory by the node that they lead to: what a node
   pulls from. */
#ifndef PEMS_DIGRAPH_PULLED_H
#define PEMS_DIGRAPH_PULLED_H

#include "digraph/digraph.h"
#include "em/core/team.h"

struct pulled {
  const uint64_t *first; /* nodes + 1: where those that lead to a node begin */
  const uint32_t *from;  /* edge i comes from from[i * step] */
  size_t step;
  void *memory[2]; /* NULL: the graph's own rows */
};

/* The graph's own rows where each edge is there in both directions as often,
   whatever its weight; else a copy of all edges turned round, of 4 bytes each.
   The graph stays the caller's, and must stay. 0 or ENOMEM, and then nothing is
   to be freed. */
int pulled_make(struct pulled *p, const struct digraph *g, struct team *team,
                struct pems_error *error);
void pulled_free(struct pulled *p);

/* Part i of `parts` of all rows begins at this node: parts have about as many
   nodes and edges as each other. Part `parts` begins at the end. */
uint64_t pulled_part(const uint64_t *first, uint64_t nodes, int i, int parts);

#endif
