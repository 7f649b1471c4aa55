/* Shortest paths with the distances in memory and the edges in rows, wherever
   these are (semi-external). Nodes are visited in rounds: in each, all those
   with a key (a distance, or with a guess of the rest for A*) below a
   threshold, in the order of the rows, until none is left there. How far the
   threshold moves adapts to what a round reads. */
#ifndef PEMS_DIGRAPH_SEARCH_H
#define PEMS_DIGRAPH_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "digraph/compute/rows.h"

#define SEARCH_FAR UINT64_MAX    /* no path */
#define SEARCH_NOBODY UINT32_MAX /* no parent */

/* At most the distance from a node to the target, and consistent. */
typedef uint64_t search_guess(const void *arg, uint32_t node);

struct search_options {
  uint32_t source;
  bool unit;           /* every edge is 1 long */
  search_guess *guess; /* A*: with `target`; NULL: all nodes */
  const void *arg;
  uint32_t target;
};

struct search_counts {
  uint64_t rounds;
  uint64_t visited; /* nodes, as often as they were */
};

/* Bytes that search_distances takes itself. */
uint64_t search_memory(uint64_t nodes);

/* Fills in the distance of each node, or with a guess those that matter.
   ENOMEM, or what rows_sweep returns. */
int search_distances(struct rows *rows, const struct digraph *g,
                     const struct search_options *o, uint64_t *dist,
                     struct search_counts *counts, struct pems_error *error);

/* The node before each on a shortest path from the source, by distances that
   are known: the least of those that are nearer to the source, if there are
   any. SEARCH_NOBODY for the source and where there is no path. Parents form no
   circle, even where edges are 0 long. */
int search_parents(struct rows *rows, const struct digraph *g,
                   const struct search_options *o, const uint64_t *dist,
                   uint32_t *parent, struct pems_error *error);

#endif
