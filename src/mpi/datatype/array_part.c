#include "mpi/datatype/array_part.h"

#include <stdbool.h>
#include <stdlib.h>

/* One dimension of a part of an array: blocks of `block` indices, the first at
   `start`, one every `stride`, all below `end`. */
struct dim {
  ptrdiff_t start;
  ptrdiff_t block;
  ptrdiff_t stride;
  ptrdiff_t end;
  ptrdiff_t step; /* from one index to the next, in elements */
};

/* dims[0] varies fastest; `n` of them are left; `origin` in elements. */
static void add_dims(struct segments *l, const struct layout *element,
                     const struct dim *dims, int n, ptrdiff_t origin) {
  if (n == 0) {
    segments_add_elements(l, element, origin * element->extent, 1);
    return;
  }
  const struct dim *d = &dims[n - 1];
  for (ptrdiff_t at = d->start; at < d->end; at += d->stride) {
    const ptrdiff_t left = d->end - at;
    const ptrdiff_t block = left < d->block ? left : d->block;
    if (l->failed) {
      return;
    }
    if (n == 1) {
      segments_add_elements(l, element, (origin + at) * element->extent, block);
    } else {
      for (ptrdiff_t i = at; i < at + block; i++) {
        add_dims(l, element, dims, n - 1, origin + i * d->step);
      }
    }
  }
}

/* Where dimension `i` of MPI's arguments stands when the fastest is first. */
static int dim_place(int i, int ndims, int order) {
  return order == MPI_ORDER_C ? ndims - 1 - i : i;
}

static void dims_set_steps(struct dim *dims, const MPI_Count *sizes, int ndims,
                           int order) {
  ptrdiff_t step = 1;
  for (int place = 0; place < ndims; place++) {
    dims[place].step = step;
    step *= sizes[dim_place(place, ndims, order)];
  }
}

void array_part_add_subarray(struct segments *l, const struct layout *element,
                             const MPI_Count *n) {
  const int ndims = (int)n[0];
  const MPI_Count *sizes = n + 1;
  const MPI_Count *subsizes = sizes + ndims;
  const MPI_Count *starts = subsizes + ndims;
  const int order = (int)starts[ndims];
  struct dim *dims = calloc((size_t)ndims + 1, sizeof(*dims));
  if (!dims) {
    l->failed = true;
    return;
  }
  for (int i = 0; i < ndims; i++) {
    dims[dim_place(i, ndims, order)] = (struct dim){
        .start = starts[i],
        .block = subsizes[i],
        .stride = sizes[i],
        .end = starts[i] + subsizes[i],
    };
  }
  dims_set_steps(dims, sizes, ndims, order);
  add_dims(l, element, dims, ndims, 0);
  free(dims);
}

/* How many consecutive indices of a dimension a process gets at a time. */
static ptrdiff_t darray_block(MPI_Count size, MPI_Count distribution,
                              MPI_Count argument, MPI_Count procs) {
  if (distribution == MPI_DISTRIBUTE_NONE) {
    return size;
  }
  if (argument != MPI_DISTRIBUTE_DFLT_DARG) {
    return argument;
  }
  return distribution == MPI_DISTRIBUTE_BLOCK ? (size + procs - 1) / procs : 1;
}

void array_part_add_darray(struct segments *l, const struct layout *element,
                           const MPI_Count *n) {
  const int ndims = (int)n[2];
  const MPI_Count *sizes = n + 3;
  const MPI_Count *distributions = sizes + ndims;
  const MPI_Count *arguments = distributions + ndims;
  const MPI_Count *procs = arguments + ndims;
  const int order = (int)procs[ndims];
  struct dim *dims = calloc((size_t)ndims + 1, sizeof(*dims));
  if (!dims) {
    l->failed = true;
    return;
  }
  /* The grid of processes is in row-major order whatever the array's is. */
  MPI_Count rank = n[1];
  for (int i = ndims - 1; i >= 0; i--) {
    const bool whole = distributions[i] == MPI_DISTRIBUTE_NONE;
    const MPI_Count along = whole ? 1 : procs[i];
    const ptrdiff_t block =
        darray_block(sizes[i], distributions[i], arguments[i], along);
    dims[dim_place(i, ndims, order)] = (struct dim){
        .start = rank % along * block,
        .block = block,
        .stride = block * along,
        .end = sizes[i],
    };
    rank /= along;
  }
  dims_set_steps(dims, sizes, ndims, order);
  add_dims(l, element, dims, ndims, 0);
  free(dims);
}
