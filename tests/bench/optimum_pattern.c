/* A program whose touches are known, for the test of optimum.sh: each rank has
   UNITS units of 64 KiB. In each of its steps it writes the first of them,
   reads the next STRIDE of those left (a third of them each time) and passes a
   barrier. It prints where they are: pattern rank=R unit=FIRST. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "optimum.h"

enum { UNITS = 61, PARTS = 3, STRIDE = (UNITS - 1) / PARTS, STEPS = 12 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  volatile char *unit =
      aligned_alloc(OPTIMUM_UNIT, (size_t)UNITS * OPTIMUM_UNIT);
  printf("pattern rank=%d unit=%llu\n", rank,
         (unsigned long long)((size_t)unit / OPTIMUM_UNIT));
  for (size_t i = 0; i < UNITS; i++) {
    unit[i * OPTIMUM_UNIT] = 1;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int sum = 0;
  for (size_t step = 0; step < STEPS; step++) {
    unit[step] = 1;
    for (size_t i = 0; i < STRIDE; i++) {
      sum += unit[(1 + step % PARTS * STRIDE + i) * OPTIMUM_UNIT + 99 * step];
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  free((void *)unit);
  MPI_Finalize();
  return sum == 0;
}
