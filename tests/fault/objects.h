/* For tests of checkpoints: a program that makes objects of MPI, and in each
   step uses all of them. What all ranks have seen is in the line that rank 0
   prints, so a job that goes on from a checkpoint prints what it would have.

     PROGRAM STEPS

   A program defines objects_make, objects_use and objects_free. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mpi/numbers.h"

static int rank, size;
static unsigned long long seen;

static void objects_make(void);
static void objects_use(int step);
static void objects_free(void);

/* Notes a number, */
static void note(long long number) {
  seen = (seen ^ (unsigned long long)number) * 0x100000001b3;
  seen ^= seen >> 29;
}

/* bytes, */
static void note_bytes(const void *from, size_t n) {
  for (size_t i = 0; i < n; i++) {
    note(((const unsigned char *)from)[i]);
  }
}

/* and what must not be. */
static inline void expect(int right, const char *what) {
  if (!right) {
    printf("rank %d: wrong: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = argc > 1 ? atoi(argv[1]) : 5;
  objects_make();
  for (int s = 0; s < steps; s++) {
    unsigned long long all;
    objects_use(s);
    MPI_Allreduce(&seen, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM,
                  MPI_COMM_WORLD);
    if (rank == 0) {
      printf("step %d: %llx\n", s, all);
    }
  }
  objects_free();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("the end\n");
  }
  MPI_Finalize();
  return 0;
}
