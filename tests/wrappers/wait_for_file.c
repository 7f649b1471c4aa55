/* wait_for_file FILE [TEXT]: ranks wait for a file between supersteps, as rank
   0 does not come before there is one. It says TEXT when all have begun. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char *memory = malloc(1 << 20);
  memset(memory, 1, 1 << 20);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && argc > 2) {
    puts(argv[2]);
    fflush(stdout);
  }
  while (rank == 0 && access(argv[1], F_OK) != 0) {
    usleep(20000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return memory[5] != 1;
}
