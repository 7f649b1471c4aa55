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

#if MPI_VERSION >= 4
/* The same bytes one by one: their count is more than an int's, as is where
   they come to lie. */
static void large_counts(int blocks) {
  const MPI_Count n = (MPI_Count)blocks * BLOCK;
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  char *out = allocate((size_t)n), *in = allocate((size_t)n);
  MPI_Request request;
  MPI_Status status;
  MPI_Count got;
  write_pattern(out, (size_t)n, rank);
  MPI_Irecv_c(in, n, MPI_BYTE, from, 0, MPI_COMM_WORLD, &request);
  MPI_Send_c(out, n, MPI_BYTE, to, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  MPI_Get_count_c(&status, MPI_BYTE, &got);
  if (got != n) {
    fail("Irecv_c: %lld elements", (long long)got);
  }
  check_pattern(in, (size_t)n, from, "Irecv_c");
  MPI_Count *counts = calloc((size_t)size, sizeof(*counts));
  MPI_Aint *places = calloc((size_t)size, sizeof(*places));
  for (int i = 0; i < size; i++) {
    counts[i] = i < size - 1 ? n - 5 : 5;
    places[i] = i < size - 1 ? 0 : n - 5;
  }
  if (size == 2) {
    MPI_Allgatherv_c(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE,
                     MPI_COMM_WORLD);
    check_pattern(in, (size_t)n - 5, 0, "Allgatherv_c");
    check_pattern(in + n - 5, 5, 1, "Allgatherv_c, at the end");
  }
  free(counts);
  free(places);
  free(out);
  free(in);
}
#else
static void large_counts(int blocks) {
  (void)blocks;
}
#endif

int main(int argc, char **argv) {
  const int blocks = argc > 1 ? atoi(argv[1]) : 0;
  argc = 1;
  begin(&argc, &argv);
  if (blocks > 0) {
    bcast(blocks);
    alltoallv(blocks);
    allreduce(blocks);
    large_counts(blocks);
  } else {
    printf("rank %d: nothing to do: give the MiB of a message\n", rank);
  }
  return end();
}
