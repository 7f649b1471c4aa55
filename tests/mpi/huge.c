/* Counts whose bytes pass 2^31. Needs an argument: the MiB of a message, 2100
   for the real thing; each rank holds about twice that. */
#include "test.h"

enum { BLOCK = 1 << 20 };

static char pattern(size_t i, int seed) {
  return (char)(i * 31 + (i >> 12) + (size_t)seed * 7);
}

static char *allocate(size_t n) {
  char *p = malloc(n);
  if (!p) {
    fprintf(stderr, "rank %d: no memory for %zu bytes\n", rank, n);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return p;
}

static void write_pattern(char *p, size_t n, int seed) {
  for (size_t i = 0; i < n; i++) {
    p[i] = pattern(i, seed);
  }
}

static void check_pattern(const char *p, size_t n, int seed, const char *what) {
  for (size_t i = 0; i < n; i++) {
    if (p[i] != pattern(i, seed)) {
      fail("%s: byte %zu of %zu", what, i, n);
      return;
    }
  }
}

/* All with the count 1 or 2 of a type of many MiB. */
static void bcast(int blocks) {
  const size_t n = (size_t)blocks * BLOCK;
  MPI_Datatype block, type;
  MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
  MPI_Type_contiguous(blocks, block, &type);
  MPI_Type_commit(&type);
  char *p = allocate(n);
  write_pattern(p, n, rank);
  MPI_Bcast(p, 1, type, size - 1, MPI_COMM_WORLD);
  check_pattern(p, n, size - 1, "bcast");
  free(p);
  MPI_Type_free(&type);
  MPI_Type_free(&block);
}

/* Everything goes to the next rank; also as numbers, with a count of 2^28. */
static void alltoallv(int blocks) {
  const size_t n = (size_t)blocks * BLOCK;
  int *out = calloc((size_t)size, sizeof(*out));
  int *in = calloc((size_t)size, sizeof(*in));
  int *none = calloc((size_t)size, sizeof(*none));
  MPI_Datatype block;
  MPI_Type_contiguous(BLOCK / 2, MPI_SHORT, &block);
  MPI_Type_commit(&block);
  char *from = allocate(n), *to = allocate(n);
  write_pattern(from, n, rank);
  out[(rank + 1) % size] = in[(rank + size - 1) % size] = blocks;
  MPI_Alltoallv(from, out, none, block, to, in, none, block, MPI_COMM_WORLD);
  check_pattern(to, n, (rank + size - 1) % size, "alltoallv");
  out[(rank + 1) % size] = in[(rank + size - 1) % size] = blocks * (BLOCK / 8);
  MPI_Alltoallv(to, out, none, MPI_DOUBLE, from, in, none, MPI_DOUBLE,
                MPI_COMM_WORLD);
  check_pattern(from, n, (rank + 2 * size - 2) % size, "of numbers");
  MPI_Type_free(&block);
  free(from);
  free(to);
  free(out);
  free(in);
  free(none);
}

static void allreduce(int blocks) {
  const int n = blocks * (BLOCK / 8);
  long *numbers = (long *)(void *)allocate((size_t)n * sizeof(*numbers));
  for (int i = 0; i < n; i++) {
    numbers[i] = i + rank;
  }
  MPI_Allreduce(MPI_IN_PLACE, numbers, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < n; i++) {
    if (numbers[i] != (long)i * size + size * (size - 1) / 2) {
      fail("allreduce: number %d", i);
      break;
    }
  }
  free(numbers);
}

int main(int argc, char **argv) {
  const int blocks = argc > 1 ? atoi(argv[1]) : 0;
  argc = 1;
  begin(&argc, &argv);
  if (blocks > 0) {
    bcast(blocks);
    alltoallv(blocks);
    allreduce(blocks);
  } else {
    printf("rank %d: nothing to do: give the MiB of a message\n", rank);
  }
  return end();
}
