/* The rows of a graph, one node's edges after the other's: in memory, or in a
   .csr file, whose edges are read ahead in the order in which they are needed,
   without the page cache. Single-threaded but for reads. Functions return 0 or
   an errno value. */
#ifndef PEMS_DIGRAPH_ROWS_H
#define PEMS_DIGRAPH_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "digraph/digraph.h"

struct rows;

struct rows_counts {
  uint64_t sweeps;
  uint64_t reads, bytes_read; /* of the file */
};

/* Bytes of buffers that reading takes. */
#define ROWS_MEMORY (8u << 20)

/* g stays the caller's. `path`: the .csr that it was read from, where its edges
   are outside; else NULL. `io`: the driver, or NULL. */
int rows_open(struct rows **rows, const struct digraph *g, const char *path,
              const char *io, struct pems_error *error);
void rows_close(struct rows *rows);
void rows_counts(const struct rows *rows, struct rows_counts *counts);

/* Is given a node's edges; of many edges, in several calls that follow each
   other. Nodes without edges are not visited. */
typedef void rows_visit(void *arg, uint32_t node,
                        const struct digraph_edge *edge, uint64_t n);

/* Visits nodes in ascending order. `wanted`: those whose bits are set, which
   are cleared when they are visited (NULL: all nodes). A bit that is set during
   the sweep, behind the node that is visited, may be dealt with in this sweep,
   or stay for the next. EINVAL: the file is damaged. */
int rows_sweep(struct rows *rows, uint64_t *wanted, rows_visit *visit,
               void *arg, struct pems_error *error);

/* --- sets of nodes --- */

static inline uint64_t rows_set_words(uint64_t nodes) {
  return nodes / 64 + 1;
}
static inline void rows_set_add(uint64_t *set, uint64_t node) {
  set[node / 64] |= UINT64_C(1) << node % 64;
}
static inline void rows_set_remove(uint64_t *set, uint64_t node) {
  set[node / 64] &= ~(UINT64_C(1) << node % 64);
}
static inline bool rows_set_has(const uint64_t *set, uint64_t node) {
  return set[node / 64] >> node % 64 & 1;
}
/* The first in the set from `node` on and below `end`; else `end`. */
uint64_t rows_set_next(const uint64_t *set, uint64_t node, uint64_t end);

#endif
