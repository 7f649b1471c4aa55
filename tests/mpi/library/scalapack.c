/* Solves a system of equations that is spread in blocks over a grid of ranks,
   whose solution is 1, 2, 3, ... The argument is its size. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 8 };

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row,
                     int *column);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *block, const int *me, const int *first,
            const int *processes);
void descinit_(int *desc, const int *m, const int *n, const int *mb,
               const int *nb, const int *first_row, const int *first_column,
               const int *context, const int *leading, int *info);
void pdgesv_(const int *n, const int *columns, double *a, const int *ia,
             const int *ja, const int *desc_a, int *pivots, double *b,
             const int *ib, const int *jb, const int *desc_b, int *info);

static const int zero = 0, one = 1, block = BLOCK;

/* The place in the whole of what is i-th here. */
static int global(int i, int me, int processes) {
  return (i / BLOCK * processes + me) * BLOCK + i % BLOCK;
}

static double element(int i, int j, int n) {
  return i == j ? 2.0 * n : 1.0 / (1 + (i * 7 + j * 3) % 11);
}

static double right_side(int i, int n) {
  double sum = 0;
  for (int j = 0; j < n; j++) {
    sum += element(i, j, n) * (j + 1);
  }
  return sum;
}

int main(int argc, char **argv) {
  int rank, ranks, context, rows = 0, columns = 0, row, column, info;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int n = argc > 1 ? atoi(argv[1]) : 100;
  int dims[2] = {0, 0};
  MPI_Dims_create(ranks, 2, dims);
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", dims[0], dims[1]);
  Cblacs_gridinfo(context, &rows, &columns, &row, &column);
  const int m = numroc_(&n, &block, &row, &zero, &rows);
  const int k = numroc_(&n, &block, &column, &zero, &columns);
  const int leading = m > 0 ? m : 1;
  int desc_a[9], desc_b[9];
  descinit_(desc_a, &n, &n, &block, &block, &zero, &zero, &context, &leading,
            &info);
  descinit_(desc_b, &n, &one, &block, &block, &zero, &zero, &context, &leading,
            &info);
  double *const a = calloc((size_t)leading * (size_t)(k + 1), sizeof(*a));
  double *const b = calloc((size_t)leading, sizeof(*b));
  int *const pivots = calloc((size_t)(m + BLOCK), sizeof(*pivots));
  for (int i = 0; i < m; i++) {
    const int whole = global(i, row, rows);
    for (int j = 0; j < k; j++) {
      a[i + j * leading] = element(whole, global(j, column, columns), n);
    }
    b[i] = right_side(whole, n);
  }
  pdgesv_(&n, &one, a, &one, &one, desc_a, pivots, b, &one, &one, desc_b,
          &info);
  double worst = info == 0 ? 0 : 1;
  for (int i = 0; i < m && column == 0; i++) {
    worst = fmax(worst, fabs(b[i] - (global(i, row, rows) + 1)));
  }
  printf("rank %d of %d: %s\n", rank, ranks,
         worst < 1e-9 * n ? "right" : "WRONG");
  free(a);
  free(b);
  free(pivots);
  Cblacs_gridexit(context);
  MPI_Finalize();
  return worst >= 1e-9 * n;
}
