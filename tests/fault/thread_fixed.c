/* Thread-local data at fixed offsets from the thread pointer, of which ld.so
   has little in reserve: each rank has its own. Rank 0 prints "ok
   thread_fixed". */
#include <mpi.h>
#include <stdio.h>

static __thread int number __attribute__((tls_model("initial-exec"))) = 7;
static __thread char array[1000] __attribute__((tls_model("initial-exec")));

int main(int argc, char **argv) {
  int rank, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  number += rank;
  array[rank % 1000] = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  int wrong = number != 7 + rank;
  for (int i = 0; i < 1000; i++) {
    wrong += array[i] != (i == rank % 1000);
  }
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%s thread_fixed\n", all ? "wrong" : "ok");
  }
  MPI_Finalize();
  return wrong != 0;
}
