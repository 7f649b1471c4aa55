/* What the algorithms on lists, trees and graphs share. Collective functions
   return MPI_SUCCESS or an error class, as those of <pems/cgm.h> do. */
#ifndef PEMS_CGM_GRAPH_GRAPH_H
#define PEMS_CGM_GRAPH_GRAPH_H

#include "cgm/machine.h"

/* Two numbers that are ordered as one of 128 bits. */
struct cgm_wide {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  uint64_t high, low;
#else
  uint64_t low, high;
#endif
};

/* A list of n elements that are all 0; on an error it is empty, and only this
   rank knows. Not collective. */
int pems_cgm_new(struct pems_cgm *machine, struct pems_cgm_list *list,
                 uint64_t n, size_t size);
/* Changes n, or the size of elements, and keeps the bytes that there are; the
   list stays as it is if there is no memory, and only this rank knows. Not
   collective. */
int pems_cgm_resize(struct pems_cgm *machine, struct pems_cgm_list *list,
                    uint64_t n, size_t size);

/* This rank's first element, where `total` are spread evenly. */
uint64_t pems_cgm_first_own(const struct pems_cgm *machine, uint64_t total);

/* The last element that is not beyond `node`: elements begin with a node each,
   in ascending order. 0 if there is none. Not collective. */
uint64_t pems_cgm_find_node(const struct pems_cgm_list *list, uint64_t node);

/* Sums over all ranks, in place: one superstep. */
int pems_cgm_sum(struct pems_cgm *machine, uint64_t *values, size_t n);
/* The same; the last one counts faults: MPI_ERR_ARG with this text if there are
   any. */
int pems_cgm_sum_faults(struct pems_cgm *machine, uint64_t *values, size_t n,
                        const char *text);
/* `all` becomes all ranks' `bytes` bytes at `mine`, by rank: one superstep. */
int pems_cgm_gather_all(struct pems_cgm *machine, const void *mine, void *all,
                        size_t bytes);

/* --- groups of equal keys that cross ranks --- */

/* What all ranks know of each one's part of a list that is sorted by a key. */
struct cgm_border {
  uint64_t n;
  uint64_t first, last; /* keys; only where n > 0, as all that follows */
  uint64_t value;       /* of the first element */
  uint64_t head;        /* value of the first element with the last key */
};

/* `all`: v borders. Keys and values are uint64_t so many bytes from the
   beginning of elements. One superstep. */
int pems_cgm_borders(struct pems_cgm *machine, const struct pems_cgm_list *list,
                     size_t key, size_t value, struct cgm_border *all);
/* The next rank in that direction (1 or -1) that has elements; -1 if there is
   none. */
int pems_cgm_border_neighbour(const struct pems_cgm *machine,
                              const struct cgm_border *all, int rank, int step);
/* The value of the very first element with the last key of a rank, which has
   elements. */
uint64_t pems_cgm_border_head(const struct pems_cgm *machine,
                              const struct cgm_border *all, int rank);

/* --- sets of colours --- */

/* Set 2k + t of colours 0 .. n - 1 has those with parity(k & colour) != t. Of
   links between different colours a quarter lead, on the average over the 2n
   sets, out of the set; hence from the best one at least a quarter. */
int pems_cgm_in_set(uint64_t set, uint64_t colour);
/* Hadamard's transform, in place, n a power of two: x[k] becomes the sum of all
   x[i], taken negative where parity(k & i) is 1; modulo 2^64. */
void pems_cgm_transform(uint64_t *x, uint64_t n);

#endif
