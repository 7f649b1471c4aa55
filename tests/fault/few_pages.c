/* Each rank touches three pages of each MiB of its memory, again in every
   superstep, and checks what it wrote the last time. Arguments: MiB,
   supersteps. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t *place(char *memory, size_t mib, int page) {
  return (uint64_t *)(memory + (mib << 20) +
                      ((mib * 67 + page * 85) % 256 << 12));
}

int main(int argc, char **argv) {
  int rank, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t size = strtoul(argv[1], NULL, 10);
  const int steps = atoi(argv[2]);
  char *const memory = malloc(size << 20);
  for (int step = 0; step < steps; step++) {
    for (size_t i = 0; i < size; i++) {
      for (int page = 0; page < 3; page++) {
        uint64_t *const word = place(memory, i, page);
        wrong += step && *word != i * 3 + page + rank + step;
        *word = i * 3 + page + rank + step + 1;
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (wrong) {
    fprintf(stderr, "rank %d: %d words are wrong\n", rank, wrong);
  }
  MPI_Finalize();
  return wrong != 0;
}
