/* Each rank fills 8 MiB of thread-local data (thread_area.c) and finds them as
   they were, step after step.
     thread_steps [LIBRARY]
   Without an argument they are the program's or a linked library's; else those
   of a library that is opened. Rank 0 prints "ok thread_steps". */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 8 << 20, STEPS = 3 };

#ifndef OPENED
unsigned char *thread_area(void);
#endif

static unsigned char *area(int argc, char **argv) {
#ifdef OPENED
  void *const library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  unsigned char *(*f)(void) =
      library ? (unsigned char *(*)(void))dlsym(library, "thread_area") : NULL;
  if (!f) {
    fprintf(stderr, "cannot open: %s\n", dlerror());
    exit(3);
  }
  return f();
#else
  (void)argc, (void)argv;
  return thread_area();
#endif
}

static unsigned char byte(int rank, int step, int i) {
  return (unsigned char)(rank * 13 + step * 5 + i + i / 4096);
}

int main(int argc, char **argv) {
  int rank, wrong = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned char *const p = area(argc, argv);
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < BYTES; i++) {
      wrong += p[i] != (step ? byte(rank, step - 1, i) : 0);
      p[i] = byte(rank, step, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%s thread_steps\n", all ? "wrong" : "ok");
  }
  MPI_Finalize();
  return wrong != 0;
}
