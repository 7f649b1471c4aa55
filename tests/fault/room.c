/* Ranks that allocate until they have enough, or malloc fails, and then compute
   with what they have:

     room MIB [FILE]

   Each rank takes up to MIB blocks of 1 MiB, one after the other, and writes
   them. With FILE, rank 0 then writes a file until its disk is full, after
   which each rank's stack grows, which is had all the same. In ten supersteps
   all ranks change and compare all that they have. One line says how many
   blocks there are, how many ranks were refused one, and whether all was right.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 20, MOST = 4096, STEPS = 10, DEEP = 512 << 10 };

#ifdef MORE
static volatile unsigned char more[MORE] = {1};
#endif
static unsigned char *block[MOST];
static int rank;

static unsigned char value(int i, size_t at, int step) {
  return (unsigned char)(rank * 31 + i * 7 + step + (int)(at / 4096));
}

static void write_block(int i, int step) {
  for (size_t at = 0; at < BLOCK; at += 256) {
    block[i][at] = value(i, at, step);
  }
}

static bool block_is_right(int i, int step) {
  for (size_t at = 0; at < BLOCK; at += 256) {
    if (block[i][at] != value(i, at, step)) {
      return false;
    }
  }
  return true;
}

static void fill_disk(const char *path) {
  static char zeros[4096];
  FILE *const f = fopen(path, "w");
  while (f && fwrite(zeros, sizeof(zeros), 1, f) == 1 && fflush(f) == 0)
    ;
  if (f) {
    fclose(f);
  }
}

/* More of the stack than there is at first. */
static bool deep(void) {
  volatile unsigned char frame[DEEP];
  for (int i = 0; i < DEEP; i += 256) {
    frame[i] = value(i, 0, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  bool right = true;
  for (int i = 0; i < DEEP; i += 256) {
    right = right && frame[i] == value(i, 0, 0);
  }
  return right;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int wanted = atoi(argv[1]);
  int n = 0, right = 1;
#ifdef MORE
  right = more[argc] == 0;
#endif
  /* One by one, so that all have their share of a small disk. */
  for (int i = 0; i < wanted; i++) {
    if (n == i && (block[n] = malloc(BLOCK)) != NULL) {
      write_block(n++, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (argc > 2 && rank == 0) {
    fill_disk(argv[2]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  right = (argc <= 2 || deep()) && right;
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < n; i++) {
      right = right && block_is_right(i, step);
      write_block(i, step + 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int mine[3] = {n, n < wanted, !right}, all[3];
  MPI_Reduce(mine, all, 3, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("RESULT blocks=%d refused=%d wrong=%d\n", all[0], all[1], all[2]);
  }
  MPI_Finalize();
  return 0;
}
