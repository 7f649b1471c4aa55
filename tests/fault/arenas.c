/* arenas MIB STEPS: each rank maps MIB arenas of 1 MiB, as interpreters do, one
   of them guarded, and in each superstep checks and changes all of them. */
#define _GNU_SOURCE
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { ARENA = 1 << 20, WORDS = ARENA / 8, GUARD = 4096 };

static uint64_t value(int rank, int arena, int i, int step) {
  return ((uint64_t)rank << 40 ^ (uint64_t)arena << 24 ^ (uint64_t)i) *
             0x9e3779b97f4a7c15u +
         (uint64_t)step;
}

static void fill(uint64_t *p, int rank, int arena, int step) {
  for (int i = 0; i < WORDS; i++) {
    p[i] = value(rank, arena, i, step);
  }
}

static int right(const uint64_t *p, int rank, int arena, int step) {
  int good = 1;
  for (int i = 0; i < WORDS; i++) {
    good &= p[i] == value(rank, arena, i, step);
  }
  return good;
}

static uint64_t *map(void) {
  char *p = mmap(NULL, GUARD + ARENA, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p, GUARD, PROT_NONE) != 0) {
    perror("mmap");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return (uint64_t *)(p + GUARD);
}

int main(int argc, char **argv) {
  int rank, all, good = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int n = argc > 1 ? atoi(argv[1]) : 1;
  const int steps = argc > 2 ? atoi(argv[2]) : 1;
  uint64_t **arena = calloc((size_t)n, sizeof(*arena));
  for (int a = 0; a < n; a++) {
    arena[a] = map();
    fill(arena[a], rank, a, 0);
  }
  for (int step = 0; step < steps; step++) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int a = 0; a < n; a++) {
      good &= right(arena[a], rank, a, step);
      fill(arena[a], rank, a, step + 1);
    }
  }
  MPI_Reduce(&good, &all, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("arenas right=%d\n", all);
  }
  MPI_Finalize();
  return 0;
}
