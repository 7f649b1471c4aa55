/* A transform of a plane wave, whose result is one peak, and back. The argument
   is its size in each direction. */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { K0 = 3, K1 = 5 };

static double phase(ptrdiff_t i, ptrdiff_t j, ptrdiff_t n) {
  return 2 * M_PI * ((double)(K0 * i % n) + (double)(K1 * j % n)) / (double)n;
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const ptrdiff_t n = argc > 1 ? atoi(argv[1]) : 64;
  const double all = (double)n * (double)n;
  ptrdiff_t rows, first;
  fftw_complex *d = fftw_alloc_complex(
      (size_t)fftw_mpi_local_size_2d(n, n, MPI_COMM_WORLD, &rows, &first));
  fftw_plan there = fftw_mpi_plan_dft_2d(n, n, d, d, MPI_COMM_WORLD,
                                         FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_plan back = fftw_mpi_plan_dft_2d(n, n, d, d, MPI_COMM_WORLD,
                                        FFTW_BACKWARD, FFTW_ESTIMATE);
  for (ptrdiff_t i = 0; i < rows; i++) {
    for (ptrdiff_t j = 0; j < n; j++) {
      d[i * n + j][0] = cos(phase(first + i, j, n));
      d[i * n + j][1] = sin(phase(first + i, j, n));
    }
  }
  double worst = 0;
  fftw_execute(there);
  for (ptrdiff_t i = 0; i < rows; i++) {
    for (ptrdiff_t j = 0; j < n; j++) {
      const double want = first + i == K0 && j == K1 ? 1 : 0;
      worst = larger(worst, fabs(d[i * n + j][0] / all - want));
      worst = larger(worst, fabs(d[i * n + j][1] / all));
    }
  }
  fftw_execute(back);
  for (ptrdiff_t i = 0; i < rows; i++) {
    for (ptrdiff_t j = 0; j < n; j++) {
      const double p = phase(first + i, j, n);
      worst = larger(worst, fabs(d[i * n + j][0] / all - cos(p)));
      worst = larger(worst, fabs(d[i * n + j][1] / all - sin(p)));
    }
  }
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  fftw_free(d);
  fftw_mpi_cleanup();
  printf("rank %d: %td rows: %s\n", rank, rows,
         worst < 1e-9 ? "right" : "WRONG");
  MPI_Finalize();
  return 0;
}
