/* Ranks use what a library that they share has allocated. */
#include <mpi.h>

#include <stdio.h>
#include <unistd.h>

const char *keeping(int rank);
int keeping_seen(void);

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int turn = 0; turn < size; turn++) {
    if (turn == rank) {
      usleep(200000); /* others have left memory */
      printf("%s", keeping(rank));
      printf(" %d\n", keeping_seen());
      fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
