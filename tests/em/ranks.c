/* The sorter called by the ranks of an MPI program: each sorts records of its
   own, by a key and by a function of the program that reads a global; then all
   are exchanged and sorted again. Prints the same with any number of processes
   and with any part of the contexts on disk. */
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pems/sort.h>

enum { PER_PEER = 20000 };

static uint64_t turn; /* private to each rank: what its order begins with */

static int by_turned(const void *a, const void *b, void *context) {
  uint64_t x, y;
  memcpy(&x, a, sizeof(x));
  memcpy(&y, b, sizeof(y));
  x ^= turn;
  y ^= turn;
  ++*(int *)context;
  return (x > y) - (x < y);
}

static void must(int failed, const struct pems_error *e) {
  if (failed) {
    printf("failed: %s\n", e->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* Sorts n numbers in place through a sorter; returns the runs it made. */
static uint64_t sort(uint64_t *x, size_t n, pems_compare_fn *compare,
                     void *context) {
  struct pems_sort_options o = {
      .record = {.size = 8,
                 .key = PEMS_KEY_U64,
                 .compare = compare,
                 .context = context},
      .memory = 512 << 10,
      .threads = 1, /* `context` is counted up without a lock */
      .block = 8192,
  };
  struct pems_sorter *s;
  struct pems_sort_counts counts;
  struct pems_error e;
  must(pems_sorter_new(&s, &o, &e), &e);
  must(pems_sorter_push(s, x, n, &e), &e);
  must(pems_sorter_finish(s, &e), &e);
  for (size_t at = 0, got; at < n; at += got) {
    const void *records;
    must(pems_sorter_pull(s, &records, &got, &e), &e);
    memcpy(x + at, records, got * sizeof(*x));
  }
  pems_sorter_counts(s, &counts);
  pems_sorter_free(s);
  return counts.runs;
}

static bool in_order(const uint64_t *x, size_t n, uint64_t turned) {
  for (size_t i = 1; i < n; i++) {
    if ((x[i - 1] ^ turned) > (x[i] ^ turned)) {
      return false;
    }
  }
  return true;
}

int main(int argc, char **argv) {
  int rank, size, compared = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const size_t n = (size_t)size * PER_PEER;
  uint64_t *const x = malloc(n * sizeof(*x)), *const y = malloc(n * sizeof(*y));
  uint64_t state = (uint64_t)rank + 1, sum = 0, all = 0;
  for (size_t i = 0; i < n; i++) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    x[i] = state >> 20;
    sum += x[i] * 7 + 1;
  }
  turn = (uint64_t)rank << 30;
  const uint64_t runs = sort(x, n, by_turned, &compared);
  const bool turned = in_order(x, n, turn);
  MPI_Alltoall(x, PER_PEER, MPI_UINT64_T, y, PER_PEER, MPI_UINT64_T,
               MPI_COMM_WORLD);
  sort(y, n, NULL, NULL);
  for (size_t i = 0; i < n; i++) {
    all += y[i] * 7 + 1;
  }
  uint64_t sums[2] = {sum, all}, total[2];
  MPI_Reduce(sums, total, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  printf("rank %d: %s %s %s, least %" PRIu64 "\n", rank,
         turned ? "turned" : "NOT TURNED",
         in_order(y, n, 0) ? "in order" : "NOT IN ORDER",
         runs > 1 && compared > (int)n ? "by runs" : "NOT BY RUNS", y[0]);
  if (rank == 0) {
    printf("%s\n", total[0] == total[1] ? "same records" : "OTHER RECORDS");
  }
  free(x);
  free(y);
  MPI_Finalize();
  return 0;
}
