/* Each rank opens a library, and touches none of its data. Rank 0 prints how
   long that took and what the process's memory that is no file's has grown by.
   Argument: the library. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double anonymous(void) {
  char line[256];
  double kib = 0;
  FILE *f = fopen("/proc/self/smaps_rollup", "r");
  while (f && fgets(line, sizeof(line), f)) {
    if (strncmp(line, "Anonymous:", 10) == 0) {
      kib = atof(line + 10);
    }
  }
  if (f) {
    fclose(f);
  }
  return kib * 1024;
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  const double before = anonymous();
  MPI_Barrier(MPI_COMM_WORLD);
  double took = now(CLOCK_THREAD_CPUTIME_ID), most, all;
  if (!dlopen(argv[1], RTLD_NOW)) {
    printf("%s\n", dlerror());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  took = now(CLOCK_THREAD_CPUTIME_ID) - took;
  MPI_Reduce(&took, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("RESULT app=dlopen mean_ms=%.3f most_ms=%.3f grown_per_rank=%.0f\n",
           1e3 * all / size, 1e3 * most, (anonymous() - before) / size);
  }
  MPI_Finalize();
  return 0;
}
