/* Touches all of its memory in every superstep: the plainest load there is for
   something that swaps memory.

   Each rank holds an array of MIB mebibytes, adds the superstep's number to
   every word of it and waits for the others; at the end every word is checked.
   A plain MPI program: sweep MIB SUPERSTEPS */
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2, WORDS_PER_MIB = (1 << 20) / sizeof(uint64_t) };

/* What word i of a rank's array holds at first: different everywhere. */
static uint64_t first_value(int rank, uint64_t i) {
  return ((uint64_t)rank << 40) + i;
}

static void fill(uint64_t *words, uint64_t n, int rank) {
  for (uint64_t i = 0; i < n; i++) {
    words[i] = first_value(rank, i);
  }
}

static void add(uint64_t *words, uint64_t n, uint64_t x) {
  for (uint64_t i = 0; i < n; i++) {
    words[i] += x;
  }
}

/* Number of words that are not what they should be after the supersteps. */
static uint64_t count_wrong(const uint64_t *words, uint64_t n, int rank,
                            uint64_t supersteps) {
  const uint64_t added = supersteps * (supersteps + 1) / 2;
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < n; i++) {
    wrong += words[i] != first_value(rank, i) + added;
  }
  return wrong;
}

/* Reads a number from 0 to `max`. Returns it, or -1. */
static long parse(const char *text, long max) {
  char *end;
  const long value = strtol(text, &end, 10);
  return end != text && *end == '\0' && value <= max ? value : -1;
}

/* Sweeps and returns the number of wrong words on all ranks. */
static uint64_t sweep(uint64_t n, uint64_t supersteps, int rank) {
  uint64_t *const words = malloc(n > 0 ? n * sizeof(*words) : 1);
  if (words == NULL) {
    fprintf(stderr,
            "sweep: rank %d: out of memory, bytes wanted: %" PRIu64 "\n", rank,
            n * sizeof(*words));
    exit(EXIT_FAILURE);
  }
  fill(words, n, rank);
  for (uint64_t step = 1; step <= supersteps; step++) {
    add(words, n, step);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const uint64_t wrong = count_wrong(words, n, rank, supersteps);
  free(words);

  uint64_t total;
  MPI_Allreduce(&wrong, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

int main(int argc, char **argv) {
  int rank;
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  const long mib = argc == 3 ? parse(argv[1], 1 << 20) : -1;
  const long supersteps = argc == 3 ? parse(argv[2], 1 << 30) : -1;
  if (mib < 0 || supersteps < 0) {
    if (rank == 0) {
      fprintf(stderr, "usage: sweep MIB SUPERSTEPS\n");
    }
    MPI_Finalize();
    return EXIT_USAGE;
  }

  const double start = MPI_Wtime();
  const uint64_t wrong =
      sweep((uint64_t)mib * WORDS_PER_MIB, (uint64_t)supersteps, rank);
  if (rank == 0) {
    printf("RESULT app=sweep mib_per_rank=%ld ranks=%d supersteps=%ld "
           "seconds=%.6f wrong=%" PRIu64 "\n",
           mib, ranks, supersteps, MPI_Wtime() - start, wrong);
  }
  MPI_Finalize();
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
