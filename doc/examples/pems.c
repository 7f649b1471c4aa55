/* SPDX-License-Identifier: BSD-3-Clause */
/* <pems.h>: a work array is declared to be of no use any more before a rank
 * waits. With mpicc the call does nothing. Run it with 2 ranks. */
#include <mpi.h>
#include <pems.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  enum { N = 1 << 22 };
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int *work = malloc(N * sizeof *work);
  long count = 0, all = 0;
  for (int i = 0; i < N; i++) {
    work[i] = i;
  }
  for (int i = 0; i < N; i++) {
    count += work[i] == i;
  }
  pems_discard(work, N * sizeof *work); /* not written to disk, nor read back */
  MPI_Reduce(&count, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%d ranks, %ld numbers\n", size, all);
  }
  free(work);
  MPI_Finalize();
  return 0;
}
