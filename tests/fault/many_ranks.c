/* Many small ranks: ranks KIB ROUNDS. Each has KIB KiB of memory and some on
   its stack, passes both on in each round, and checks what comes. Rank 0 prints
   "ok ranks". */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 1024 };

static int rank, ranks;
static long wrong;

static uint64_t value(int of, int round, size_t i) {
  return (uint64_t)of * 1000003 + (uint64_t)round * 7919 + i;
}

static void fill(uint64_t *p, size_t n, int round) {
  for (size_t i = 0; i < n; i++) {
    p[i] = value(rank, round, i);
  }
}

static void check(const uint64_t *p, size_t n, int of, int round) {
  for (size_t i = 0; i < n; i++) {
    wrong += p[i] != value(of, round, i);
  }
}

static void go_round(uint64_t *heap, size_t n, int round) {
  uint64_t out[WORDS], in[WORDS];
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  fill(heap, n, round);
  fill(out, WORDS, round);
  MPI_Request request[2];
  MPI_Irecv(in, WORDS, MPI_UINT64_T, last, 0, MPI_COMM_WORLD, &request[0]);
  MPI_Isend(out, WORDS, MPI_UINT64_T, next, 0, MPI_COMM_WORLD, &request[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  check(in, WORDS, last, round);
  check(out, WORDS, rank, round);
  MPI_Sendrecv_replace(heap, (int)n, MPI_UINT64_T, next, 1, last, 1,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(heap, n, last, round);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t n = strtoul(argv[1], NULL, 10) * 1024 / sizeof(uint64_t);
  uint64_t *const heap = malloc(n * sizeof(*heap));
  for (int round = 0; round < atoi(argv[2]); round++) {
    go_round(heap, n, round);
  }
  long sum = 0;
  MPI_Reduce(&wrong, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf(sum ? "%ld wrong\n" : "ok ranks\n", sum);
  }
  free(heap);
  MPI_Finalize();
  return sum != 0;
}
