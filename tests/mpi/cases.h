/* The cases of collectives in which each rank has its own number of elements:
   which types meet, and how many there are. */
#ifndef TESTS_MPI_CASES_H
#define TESTS_MPI_CASES_H

#include "test.h"

static struct shape shapes[SHAPES], predefined[PREDEFINED];

/* Moves `n[i]` elements of rank i: those of the rank have one shape, those of
   the root (or of all) another. `uniform`: all n are the same. */
typedef void case_both(const struct shape *mine, const struct shape *root,
                       const int *n, int uniform, const struct rooms *rooms);

static inline void rooted_types(const struct rooms *rooms, case_both *both) {
  int *same = calloc((size_t)size, sizeof(*same));
  int *other = calloc((size_t)size, sizeof(*other));
  for (int i = 0; i < PREDEFINED; i++) {
    for (int j = 0; j < size; j++) {
      same[j] = i % 5;
      other[j] = (i + j) % 4;
    }
    both(&predefined[i], &predefined[i], same, 1, rooms);
    both(&predefined[i], &predefined[i], other, 0, rooms);
  }
  for (int i = 0; i < SHAPES; i++) {
    for (int j = 0; j < size; j++) {
      same[j] = i % 3;
      other[j] = (i + j) % 3;
    }
    const struct shape *mine = &shapes[(i + rank) % SHAPES];
    const struct shape *root = &shapes[(i + 3) % SHAPES];
    if (mine == root) {
      mine = &shapes[SHAPES - 1 - (root == &shapes[SHAPES - 1])];
    }
    both(mine, root, same, 1, rooms);
    both(mine, root, other, 0, rooms);
  }
  free(same);
  free(other);
  report("types");
}

static inline void try_lengths(const struct rooms *rooms, case_both *both,
                               int number) {
  const struct shape byte = shape_of("byte", MPI_BYTE);
  int *n = calloc((size_t)size, sizeof(*n));
  for (int i = 0; i < number; i++) {
    for (int j = 0; j < size; j++) {
      n[j] = sizes[i];
    }
    both(&byte, &byte, n, 1, rooms);
    for (int j = 0; j < size; j++) {
      n[j] = j == i % size ? sizes[i] : sizes[(i + j) % 6];
    }
    both(&byte, &byte, n, 0, rooms);
  }
  free(n);
  report("lengths");
}

#endif
