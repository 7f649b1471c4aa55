/* PageRank with the ranks in memory and the edges in rows: power iteration,
   x(v) = 1 - damping + damping * (sum of x(u) / edges of u over the edges from
   u to v). */
#ifndef PEMS_DIGRAPH_RANKS_H
#define PEMS_DIGRAPH_RANKS_H

#include "digraph/rows.h"

/* Bytes that ranks_of_rows takes itself. */
uint64_t ranks_memory(uint64_t nodes);

/* Goes on until no rank changes by more than epsilon; *rounds: how often. 0,
   ENOMEM, or what rows_sweep returns. */
int ranks_of_rows(struct rows *rows, const struct digraph *g, double damping,
                  double epsilon, double *rank, uint64_t *rounds,
                  struct pems_error *error);

#endif
