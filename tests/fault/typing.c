/* Rank 0 prints steps until something is typed. */
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int rank, ends = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  while (!ends) {
    char line[64] = "";
    struct pollfd p = {STDIN_FILENO, POLLIN, 0};
    if (rank == 0 && poll(&p, 1, 100) > 0) {
      ends = !fgets(line, sizeof(line), stdin) || line[0] == 'h';
      printf("got %s", line);
    } else if (rank == 0) {
      printf("step\n");
    }
    fflush(stdout);
    MPI_Bcast(&ends, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
