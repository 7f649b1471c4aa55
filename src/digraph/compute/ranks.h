/* PageRank with the ranks in memory and the edges there or in a file. The rank
   of v is y(v) = (1 - d) / n + d * (the sum of y(u) / edges of u over the edges
   from u to v + the sum of y over the nodes without edges / n), so that all add
   up to 1. */
#ifndef PEMS_DIGRAPH_RANKS_H
#define PEMS_DIGRAPH_RANKS_H

#include "digraph/compute/rows.h"

struct ranks_options {
  double damping; /* d */
  double error;   /* at most: the sum of all differences from the right ranks */
  int threads;    /* that pull; edges in a file are one thread's */
};

/* A smaller error is below what rounding leaves. */
#define RANKS_ERROR_LEAST 1e-12

struct ranks_found {
  uint64_t sweeps; /* over all edges */
  double error;    /* no more than that */
};

/* Bytes for each node that ranks_of_rows takes itself, with the ranks. */
#define RANKS_ROWS_BYTES (2 * sizeof(double) + 1)

/* Edges in memory: all threads pull. Runs differ, within the error. 0, or an
   errno value: EDOM where rounding leaves a larger error. */
int ranks_of_graph(const struct digraph *g, const struct ranks_options *o,
                   double *rank, struct ranks_found *found,
                   struct pems_error *error);

/* Edges in rows, wherever they are: each sweep reads them once, in order. 0,
   ENOMEM, EDOM, or what rows_sweep returns. */
int ranks_of_rows(struct rows *rows, const struct digraph *g,
                  const struct ranks_options *o, double *rank,
                  struct ranks_found *found, struct pems_error *error);

#endif
