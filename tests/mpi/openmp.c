/* OpenMP in a rank: the threads' pool is idle while the rank waits in MPI, at a
   barrier while the master is in MPI, and calls MPI itself in turn.
   compare.sh: -fopenmp */
#include "test.h"

#include <omp.h>

enum { THREADS = 3, N = 30000 };

static double *x, *y;

/* Parallel loops between collective calls. */
static void loops(void) {
  for (int round = 0; round < 10; round++) {
    double sum = 0, all = 0;
#pragma omp parallel for num_threads(THREADS) reduction(+ : sum)
    for (int i = 0; i < N; i++) {
      x[i] = i % 100 + rank + round;
      sum += x[i];
    }
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(x, N, MPI_DOUBLE, round % size, MPI_COMM_WORLD);
#pragma omp parallel for num_threads(THREADS)
    for (int i = 0; i < N; i++) {
      y[i] += x[i] * (i % 3);
    }
    mix(&all, sizeof(all));
  }
  mix(y, N * sizeof(*y));
  report("loops");
}

/* The master is in MPI while the others wait for it, or compute. */
static void master(void) {
  double sum = 0;
#pragma omp parallel num_threads(THREADS)
  for (int round = 0; round < 5; round++) {
#pragma omp master
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x, N / size, MPI_DOUBLE,
                  MPI_COMM_WORLD);
#pragma omp barrier
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < N; i++) {
      sum += x[i];
    }
#pragma omp master
    MPI_Barrier(MPI_COMM_WORLD);
    if (omp_get_thread_num() > 0) {
      for (int i = omp_get_thread_num(); i < N; i += THREADS) {
        y[i] += round;
      }
    }
#pragma omp barrier
  }
  mix(&sum, sizeof(sum));
  mix(y, N * sizeof(*y));
  report("master");
}

/* Every thread calls MPI in its turn. */
static void in_turn(void) {
  double sums[THREADS] = {0};
#pragma omp parallel for ordered schedule(static, 1) num_threads(THREADS)
  for (int i = 0; i < 6 * THREADS; i++) {
    const int me = omp_get_thread_num();
    double mine = 0, all = 0;
    for (int j = me; j < N; j += THREADS) {
      mine += y[j];
    }
#pragma omp ordered
    {
      MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    sums[me] += all;
  }
  mix(sums, sizeof(sums));
  report("in turn");
}

int main(int argc, char **argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided < MPI_THREAD_SERIALIZED) {
    fail("provided %d", provided);
  }
  x = calloc(N, sizeof(*x));
  y = calloc(N, sizeof(*y));
  loops();
  master();
  in_turn();
  free(x);
  free(y);
  return end();
}
