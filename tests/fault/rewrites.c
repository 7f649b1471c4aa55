/* Each rank writes all of its memory again and again, never looks at it, and
   rank 0 says "begun", and "at the end" there. Arguments: MiB, seconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t size = strtoul(argv[1], NULL, 10) << 20;
  char *const memory = malloc(size);
  const double start = MPI_Wtime(), most = atof(argv[2]);
  if (rank == 0) {
    puts("begun");
    fflush(stdout);
  }
  for (int value = 1, on = 1; on; value++) {
    memset(memory, value, size);
    *(volatile char *)memory = 0; /* or all this would be left out */
    on = MPI_Wtime() - start < most;
    MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    puts("at the end");
  }
  MPI_Finalize();
  return 0;
}
