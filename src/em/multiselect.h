/* Where to cut sorted pieces so that the parts can be merged independently. */
#ifndef PEMS_EM_MULTISELECT_H
#define PEMS_EM_MULTISELECT_H

#include <stddef.h>
#include <stdint.h>

#include "em/kernel.h"

/* Multisequence selection: at[i] becomes how many records of piece i are among
   the first `rank` of all (rank at most their sum; then the at[i] add up to
   rank). Equal records count in the order of the pieces, within one in its
   own. Neither allocates nor fails; O(pieces log^2 n) comparisons expected. */
void multiselect(const struct pems_record *r, const struct kernel *kernel,
                 const struct kernel_piece *piece, int pieces, uint64_t rank,
                 size_t *at);

#endif
