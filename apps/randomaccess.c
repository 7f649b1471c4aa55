/* Random updates of single words over all of its memory, as the GUPS benchmark
   does them: the worst load for something that swaps memory.

   Each rank holds a table of MIB mebibytes. In every superstep it changes
   UPDATES words at random by XOR and waits for the others. XOR over the whole
   table at the end shows whether an update was lost. A plain MPI program:
   randomaccess MIB SUPERSTEPS UPDATES */
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2, WORDS_PER_MIB = (1 << 20) / sizeof(uint64_t) };

struct table {
  uint64_t *words;
  uint64_t n;   /* of them */
  uint64_t sum; /* what XOR over all words should give */
};

/* Bijective mixing of all bits: the finalizer of splitmix64. */
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static void fill(struct table *t) {
  for (uint64_t i = 0; i < t->n; i++) {
    t->words[i] = i;
    t->sum ^= i;
  }
}

/* Updates number `first` to `last` - 1 of a rank. */
static void update(struct table *t, int rank, uint64_t first, uint64_t last) {
  for (uint64_t i = first; i < last; i++) {
    const uint64_t random = mix(((uint64_t)rank << 40) + i);
    /* The upper half of the product: a number below n, without a division. */
    const uint64_t place =
        (uint64_t)(((unsigned __int128)mix(random) * t->n) >> 64);
    t->words[place] ^= random;
    t->sum ^= random;
  }
}

static bool is_wrong(const struct table *t) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < t->n; i++) {
    sum ^= t->words[i];
  }
  return sum != t->sum;
}

/* Returns the number of ranks whose table is wrong; *seconds is the time of the
   supersteps alone. */
static int run(uint64_t words, uint64_t supersteps, uint64_t updates, int rank,
               double *seconds) {
  struct table t = {.n = words};
  t.words = malloc(words * sizeof(*t.words));
  if (t.words == NULL) {
    fprintf(stderr,
            "randomaccess: rank %d: out of memory, bytes wanted: %" PRIu64 "\n",
            rank, words * sizeof(*t.words));
    exit(EXIT_FAILURE);
  }
  fill(&t);
  MPI_Barrier(MPI_COMM_WORLD);
  *seconds = -MPI_Wtime();
  for (uint64_t step = 0; step < supersteps; step++) {
    update(&t, rank, step * updates, (step + 1) * updates);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  *seconds += MPI_Wtime();
  const int wrong = is_wrong(&t);
  free(t.words);

  int total;
  MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

/* Reads a number from `min` to `max`. Returns it, or -1. */
static int64_t parse(const char *text, int64_t min, int64_t max) {
  char *end;
  const int64_t value = strtoll(text, &end, 10);
  const bool good = end != text && *end == '\0' && value >= min && value <= max;
  return good ? value : -1;
}

int main(int argc, char **argv) {
  int rank;
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  const int64_t mib = argc == 4 ? parse(argv[1], 1, 1 << 20) : -1;
  const int64_t supersteps = argc == 4 ? parse(argv[2], 0, 1 << 20) : -1;
  const int64_t updates = argc == 4 ? parse(argv[3], 0, 1 << 20) : -1;
  if (mib < 0 || supersteps < 0 || updates < 0) {
    if (rank == 0) {
      fprintf(stderr, "usage: randomaccess MIB SUPERSTEPS UPDATES\n");
    }
    MPI_Finalize();
    return EXIT_USAGE;
  }

  double seconds;
  const int wrong = run((uint64_t)mib * WORDS_PER_MIB, (uint64_t)supersteps,
                        (uint64_t)updates, rank, &seconds);
  if (rank == 0) {
    const double all = (double)supersteps * (double)updates * ranks;
    printf("RESULT app=randomaccess mib_per_rank=%" PRId64 " ranks=%d "
           "supersteps=%" PRId64 " updates=%" PRId64 " seconds=%.6f "
           "updates_per_second=%.0f wrong=%d\n",
           mib, ranks, supersteps, updates, seconds,
           seconds > 0 ? all / seconds : 0.0, wrong);
  }
  MPI_Finalize();
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
