/* Minima of ranges of an array: blocks, and a table of the minima of 1, 2, 4,
   ... blocks from each one on (Bender and Farach-Colton 2000). */
#ifndef PEMS_CGM_GRAPH_RANGE_MINIMUM_H
#define PEMS_CGM_GRAPH_RANGE_MINIMUM_H

#include "cgm/graph/graph.h"

/* A node, by how deep it lies. */
struct cgm_shallow {
  uint64_t depth;
  uint64_t parent;
};

struct cgm_minima {
  const struct cgm_shallow *at; /* the caller's */
  uint64_t n;
  uint64_t blocks;
  struct pems_cgm_list table; /* uint64_t: indices, `blocks` for each power */
};

/* Not collective. Little memory: about n / 64 * log2(n / 64) numbers. */
int pems_cgm_minima_open(struct pems_cgm *machine, struct cgm_minima *minima,
                         const struct cgm_shallow *at, uint64_t n);
void pems_cgm_minima_close(struct cgm_minima *minima);
/* Index of the smallest depth in first .. last, first <= last < n. */
uint64_t pems_cgm_minima_find(const struct cgm_minima *minima, uint64_t first,
                              uint64_t last);

#endif
