/* Crashes in ways that tests/fault/crash.sh names. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HERE __attribute__((noinline))

HERE static int solve(volatile int *p) {
  return *p; /* LINE load */
}

HERE static int divide(volatile int *by) {
  return 7 / *by; /* LINE divide */
}

HERE static void give_up(volatile int *p) {
  if (*p == 0) {
    abort(); /* LINE abort */
  }
  *p = 1;
}

/* As a library passes it that was built with the mpi.h of another MPI: MPICH's
   MPI_COMM_WORLD, or the lower half of an address of Open MPI. */
HERE static int ask(void) {
  int rank;
#ifdef OPEN_MPI
  const MPI_Comm world = (MPI_Comm)(size_t)0x44000000;
#else
  const MPI_Comm world = (MPI_Comm)0x5f3d02a0;
#endif
  MPI_Comm_rank(world, &rank); /* LINE foreign */
  return rank;
}

HERE static size_t measure(char *volatile *text) {
  const size_t n = strlen(*text); /* LINE libc */
  return n + 1;
}

HERE static int leap(int (*volatile *to)(void)) {
  const int n = (*to)(); /* LINE nowhere */
  return n + 1;
}

/* Which of its lines comes upon the end depends on where the stack begins. */
HERE static int dig(volatile int *n) { /* LINE stack */
  volatile char hole[1000];
  hole[*n % 1000] = 1;     /* LINE stack */
  *n += 1;                 /* LINE stack */
  return dig(n) + hole[0]; /* LINE stack */
}

/* Overwrites the heap up to where memory that may be written ends. */
HERE static void wreck(volatile char *heap) {
  for (size_t i = 0;; i++) {
    heap[i] = 0x55; /* LINE heap */
  }
}

int main(int argc, char **argv) {
  int rank, zero = 0;
  char *null = NULL;
  int (*nowhere)(void) = NULL;
  const char *how = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) {
    if (strcmp(how, "load") == 0) {
      solve((int *)8);
    }
    if (strcmp(how, "divide") == 0) {
      divide(&zero);
    }
    if (strcmp(how, "abort") == 0) {
      give_up(&zero);
    }
    if (strcmp(how, "foreign") == 0) {
      ask();
    }
    if (strcmp(how, "libc") == 0) {
      measure(&null);
    }
    if (strcmp(how, "nowhere") == 0) {
      leap(&nowhere);
    }
    if (strcmp(how, "stack") == 0) {
      dig(&zero);
    }
    if (strcmp(how, "heap") == 0) {
      wreck(malloc(200000));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
