/* Arrays of counts and displacements as programs give them: of int or, to the
   functions for large counts (MPI_X_c), of MPI_Count or MPI_Aint. */
#ifndef PEMS_MPI_ABI_COUNTS_H
#define PEMS_MPI_ABI_COUNTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

_Static_assert(sizeof(MPI_Count) == sizeof(int64_t) &&
                   sizeof(MPI_Aint) == sizeof(int64_t),
               "large counts and displacements have 64 bits");

struct counts {
  const void *item; /* NULL: there is no array */
  bool large;       /* of 64 bits */
};

static inline struct counts counts_of(const int *item) {
  return (struct counts){item, false};
}
static inline struct counts counts_large(const void *item) {
  return (struct counts){item, true};
}

static inline size_t counts_bytes(struct counts c, int n) {
  return (size_t)n * (c.large ? sizeof(int64_t) : sizeof(int));
}

static inline MPI_Count counts_at(struct counts c, int i) {
  if (!c.large) {
    return ((const int *)c.item)[i];
  }
  int64_t value;
  memcpy(&value, (const char *)c.item + (size_t)i * sizeof(value),
         sizeof(value));
  return value;
}

#endif
