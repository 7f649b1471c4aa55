/* Segments of a datatype as they are found, in type-map order. */
#ifndef PEMS_MPI_DATATYPE_SEGMENTS_H
#define PEMS_MPI_DATATYPE_SEGMENTS_H

#include "mpi/datatype/layout.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Begins as {0}; `at` is freed by free. Their `before` is 0. */
struct segments {
  struct layout_segment *at;
  size_t n;
  size_t room;
  bool failed; /* memory was short: the rest is not recorded */
};

/* Adjacent ones are joined. */
void segments_add(struct segments *l, ptrdiff_t offset, size_t len);
/* `count` elements, the origin of the first at `offset`. */
void segments_add_elements(struct segments *l, const struct layout *element,
                           ptrdiff_t offset, ptrdiff_t count);
/* n[0] blocks of n[1] elements, one every `stride` bytes. */
void segments_add_vector(struct segments *l, const struct layout *element,
                         const MPI_Count *n, ptrdiff_t stride);
/* Blocks of elements at places that are counted in units of bytes. `blocks`:
   one number for each, or `same` for all. */
void segments_add_indexed(struct segments *l, const struct layout *element,
                          MPI_Count count, const MPI_Count *blocks,
                          MPI_Count same, const MPI_Count *places,
                          ptrdiff_t unit);

#endif
