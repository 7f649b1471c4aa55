/* A minimum spanning forest with the nodes' sets in memory and the edges in
   rows: Kruskal's algorithm, whose edges are sorted on disk. Edges lead both
   ways. */
#ifndef PEMS_DIGRAPH_FOREST_H
#define PEMS_DIGRAPH_FOREST_H

#include <pems/sort.h>

#include "digraph/compute/rows.h"

/* Is given each edge of the forest, by weight; not 0 ends it. */
typedef int forest_take(void *arg, const struct digraph_arc *arc);

/* Bytes that forest_of_rows takes itself, but for the sorter. */
uint64_t forest_memory(uint64_t nodes);

/* `machine`: memory, threads and scratch of the sorter. `take` may be NULL. */
int forest_of_rows(struct rows *rows, const struct digraph *g,
                   const struct pems_sort_options *machine, forest_take *take,
                   void *arg, uint64_t *weight, uint64_t *edges,
                   struct pems_error *error);

#endif
