/* For tests of what checkpoints cost: in each step a rank changes all of its
   memory and makes one collective call, in which it waits for all others.

     touching MIB STEPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, size;
  long sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const size_t n = (size_t)atoi(argv[1]) << 20;
  unsigned char *const all = calloc(n, 1);
  int *const to = malloc(size * sizeof(int)), *const from =
                                                  malloc(size * sizeof(int));
  for (int s = 0; s < atoi(argv[2]); s++) {
    for (size_t i = 0; i < n; i++) {
      all[i] += (unsigned char)(i + rank + s);
    }
    for (int q = 0; q < size; q++) {
      to[q] = all[(size_t)q * 5003 % n];
    }
    MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    for (int q = 0; q < size; q++) {
      sum += (s + 1) * from[q];
    }
  }
  printf("rank %d: %ld\n", rank, sum);
  MPI_Finalize();
  return 0;
}
