/* The cost of a superstep in which nothing is done: time per MPI_Barrier and
   per MPI_Allreduce of 8 bytes.

   A plain MPI program: superstep REPEATS */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2 };

/* Seconds for each of `repeats` barriers. */
static double time_barrier(int repeats) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < repeats; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) / repeats;
}

/* Seconds for each of `repeats` sums over all ranks; *wrong counts the sums
   that are not what they should be. */
static double time_allreduce(int rank, int ranks, int repeats, int *wrong) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int64_t i = 0; i < repeats; i++) {
    const int64_t mine = rank + i;
    int64_t sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    *wrong += sum != (int64_t)ranks * (ranks - 1) / 2 + i * ranks;
  }
  return (MPI_Wtime() - start) / repeats;
}

static void print(const char *operation, int ranks, int repeats,
                  double seconds) {
  printf("RESULT bench=superstep operation=%s ranks=%d repeats=%d "
         "microseconds=%.3f microseconds_per_rank=%.3f\n",
         operation, ranks, repeats, seconds * 1e6, seconds * 1e6 / ranks);
}

int main(int argc, char **argv) {
  int rank;
  int ranks;
  int wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int repeats = argc == 2 ? atoi(argv[1]) : 0;
  if (repeats <= 0) {
    if (rank == 0) {
      fprintf(stderr, "usage: superstep REPEATS\n");
    }
    MPI_Finalize();
    return EXIT_USAGE;
  }

  const double barrier = time_barrier(repeats);
  const double allreduce = time_allreduce(rank, ranks, repeats, &wrong);
  if (rank == 0) {
    print("barrier", ranks, repeats, barrier);
    print("allreduce", ranks, repeats, allreduce);
  }
  MPI_Finalize();
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
