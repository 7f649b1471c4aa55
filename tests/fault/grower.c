/* Ranks of very different sizes that all grow at the same time, to as many MiB
   as the argument says for rank % arguments; each byte is checked later. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, STEP = 4096 };

static int rank, ranks;
static long wrong;

static uint32_t value(size_t block, size_t at, int round) {
  return (uint32_t)rank * 1000003u + (uint32_t)(block * MIB + at) +
         (uint32_t)round;
}

static void fill(char *block, size_t i, int round) {
  for (size_t at = 0; at < MIB; at += STEP) {
    const uint32_t x = value(i, at, round);
    memcpy(block + at, &x, sizeof(x));
  }
}

static void check(const char *block, size_t i, int round) {
  for (size_t at = 0; at < MIB; at += STEP) {
    const uint32_t x = value(i, at, round);
    wrong += memcmp(block + at, &x, sizeof(x)) != 0;
  }
}

/* Everybody's smallest number of blocks is printed by rank 0. */
static void meet(size_t blocks) {
  long most, own = (long)blocks;
  MPI_Reduce(&own, &most, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%ld MiB in all\n", most);
  }
}

static size_t grow(char **block, size_t n) {
  for (size_t i = 0; i < n; i++) {
    block[i] = malloc(MIB);
    if (!block[i]) {
      printf("rank %d: malloc failed\n", rank);
      return i;
    }
    fill(block[i], i, 0);
  }
  return n;
}

/* Moves and clears blocks that are large. */
static void resize(size_t n) {
  char *p = NULL;
  for (size_t mib = 1; mib <= n / 3; mib *= 2) {
    p = realloc(p, mib * MIB);
    for (size_t i = mib / 2; p && i < mib; i++) {
      fill(p + i * MIB, i, 7);
    }
  }
  char *zero = calloc(n / 4 + 1, MIB);
  for (size_t i = 0; p && zero && i < n / 4; i++) {
    wrong += zero[i * MIB + STEP] != 0;
    zero[i * MIB + STEP] = 1;
  }
  for (size_t mib = 1; p && mib <= n / 3; mib *= 2) {
    for (size_t i = mib / 2; i < mib; i++) {
      check(p + i * MIB, i, 7);
    }
  }
  wrong += !p || !zero;
  free(p);
  free(zero);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t n = strtoul(argv[1 + rank % (argc - 1)], NULL, 10);
  char **block = calloc(n, sizeof(*block));
  const size_t got = grow(block, n);
  meet(got);
  for (int round = 1; round < 3; round++) {
    for (size_t i = 0; i < got; i++) {
      check(block[i], i, round - 1);
      fill(block[i], i, round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (size_t i = 0; i < got; i++) {
    check(block[i], i, 2);
    free(block[i]);
  }
  free(block);
  if (got == n) {
    resize(n);
  }
  long sum;
  MPI_Reduce(&wrong, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%ld wrong\n", sum);
  }
  MPI_Finalize();
  return 0;
}
