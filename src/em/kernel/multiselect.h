/* Where to cut sorted pieces so that the parts can be merged independently. */
#ifndef PEMS_EM_KERNEL_MULTISELECT_H
#define PEMS_EM_KERNEL_MULTISELECT_H

#include <stddef.h>
#include <stdint.h>

#include "em/kernel/kernel.h"

/* Multisequence selection: at[i] becomes how many records of piece i are among
   the first `rank` of all (rank at most their sum; then the at[i] add up to
   rank). Equal records count in the order of the pieces, within one in its
   own. Neither allocates nor fails; O(pieces log^2 n) comparisons expected. */
void multiselect(const struct pems_record *r, const struct kernel *kernel,
                 const struct kernel_piece *piece, int pieces, uint64_t rank,
                 size_t *at);

/* The same for sequences of any form. */
struct multiselect_source {
  const void *arg; /* of the functions */
  int pieces;
  size_t (*length)(const void *arg, int piece);
  /* How many records of `piece` are before record `at` of piece `of`, or where
     `equal` not behind it: from low to high. */
  size_t (*rank)(const void *arg, int piece, size_t low, size_t high, int of,
                 size_t at, int equal);
};
void multiselect_from(const struct multiselect_source *source, uint64_t rank,
                      size_t *at);

#endif
