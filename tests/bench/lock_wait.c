/* Messages of every kind that another process's network thread hands to the
   scheduler, while many VPs wake: broadcasts, reductions, small all-to-alls.

     lock_wait REPEATS [BYTES] */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  int rank, v;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &v);
  const int repeats = argc > 1 ? atoi(argv[1]) : 100;
  const int n = argc > 2 ? atoi(argv[2]) : 1 << 20;
  const int few = 2048;
  char *data = malloc((size_t)n), *sum = malloc((size_t)n);
  char *from = malloc((size_t)v * few), *to = malloc((size_t)v * few);
  memset(data, rank, (size_t)n);
  memset(from, rank, (size_t)v * few);
  for (int i = 0; i < repeats; i++) {
    MPI_Bcast(data, n, MPI_BYTE, i % v, MPI_COMM_WORLD);
    MPI_Allreduce(data, sum, n, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
    MPI_Alltoall(from, few, MPI_BYTE, to, few, MPI_BYTE, MPI_COMM_WORLD);
    for (int other = 0; other < v; other++) {
      if (to[(size_t)other * few] != (char)other) {
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
  }
  MPI_Finalize();
  return 0;
}
