/* Rank after rank opens a plug-in. Argument: its path. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int turn = 0; turn < size; turn++) {
    if (turn == rank) {
      const char *const why = dlopen(argv[1], RTLD_NOW) ? "opened" : dlerror();
      printf("%s\n", why ? why : "no reason");
      fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
