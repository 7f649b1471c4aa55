/* Large messages, contiguous and not, to ranks that are there and to ranks that
   are not: several under way at once in both directions. */
#include "test.h"

#include <stdbool.h>

enum { AROUND = 3, LENGTHS = 4 };
static const int lengths[LENGTHS] = {20000, 100003, 300000, 524288};

static unsigned char byte_of(int from, int to, int k, size_t i) {
  return (unsigned char)((size_t)(from * 31 + to * 17 + k * 7) + i * 13 +
                         i / 251);
}

static void fill(unsigned char *p, size_t n, int from, int to, int k) {
  for (size_t i = 0; i < n; i++) {
    p[i] = byte_of(from, to, k, i);
  }
}

static void check(const unsigned char *p, size_t n, int from, int to, int k,
                  const char *what) {
  for (size_t i = 0; i < n; i++) {
    if (p[i] != byte_of(from, to, k, i)) {
      fail("%s: message %d of rank %d: byte %zu of %zu", what, k, from, i, n);
      return;
    }
  }
}

/* To the AROUND next ranks, from the AROUND previous ones, all at once. */
static void crowd(bool posted_first) {
  MPI_Request r[2 * AROUND];
  unsigned char *in[AROUND], *out[AROUND];
  MPI_Status statuses[2 * AROUND];
  for (int l = 0; l < LENGTHS; l++) {
    const int n = lengths[l];
    for (int k = 0; k < AROUND; k++) {
      const int to = (rank + k + 1) % size;
      const int from = (rank + AROUND * size - k - 1) % size;
      in[k] = calloc((size_t)n + 10, 1);
      out[k] = malloc((size_t)n);
      fill(out[k], (size_t)n, rank, to, k);
      if (posted_first) {
        MPI_Irecv(in[k] + l, n, MPI_BYTE, from, k, MPI_COMM_WORLD, &r[k]);
      }
    }
    if (posted_first) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int k = 0; k < AROUND; k++) {
      MPI_Isend(out[k], n, MPI_BYTE, (rank + k + 1) % size, k, MPI_COMM_WORLD,
                &r[AROUND + k]);
    }
    if (!posted_first) {
      MPI_Barrier(MPI_COMM_WORLD);
      for (int k = AROUND - 1; k >= 0; k--) {
        MPI_Irecv(in[k] + l, n, MPI_BYTE, (rank + AROUND * size - k - 1) % size,
                  k, MPI_COMM_WORLD, &r[k]);
      }
    }
    MPI_Waitall(2 * AROUND, r, statuses);
    for (int k = 0; k < AROUND; k++) {
      const int from = (rank + AROUND * size - k - 1) % size;
      int count;
      MPI_Get_count(&statuses[k], MPI_BYTE, &count);
      if (count != n || statuses[k].MPI_SOURCE != from) {
        fail("crowd: status");
      }
      check(in[k] + l, (size_t)n, from, rank, k, "crowd");
      for (int i = 0; i < 10; i++) {
        if ((i < l && in[k][i]) || (i >= l && in[k][n + i])) {
          fail("crowd: beside the buffer");
        }
      }
      free(in[k]);
      free(out[k]);
    }
  }
}

/* A matrix's columns become rows elsewhere. */
static void columns(void) {
  enum { ROWS = 300, COLUMNS = 200 };
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  double(*a)[COLUMNS] = malloc(sizeof(double[ROWS][COLUMNS]));
  double *b = malloc(sizeof(double[ROWS * COLUMNS]));
  MPI_Datatype column, all;
  MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &all);
  MPI_Type_commit(&all);
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < COLUMNS; j++) {
      a[i][j] = rank * 1e6 + i * 1e3 + j;
    }
  }
  MPI_Request r;
  MPI_Irecv(b, ROWS * COLUMNS, MPI_DOUBLE, previous, 4, MPI_COMM_WORLD, &r);
  MPI_Ssend(a, COLUMNS, all, next, 4, MPI_COMM_WORLD);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  for (int j = 0; j < COLUMNS; j++) {
    for (int i = 0; i < ROWS; i++) {
      if (b[j * ROWS + i] != previous * 1e6 + i * 1e3 + j) {
        fail("columns: %d %d", i, j);
        i = ROWS, j = COLUMNS;
      }
    }
  }
  /* And back. */
  for (int i = 0; i < ROWS; i++) {
    memset(a[i], 0, sizeof(a[i]));
  }
  MPI_Isend(b, ROWS * COLUMNS, MPI_DOUBLE, previous, 5, MPI_COMM_WORLD, &r);
  MPI_Recv(a, COLUMNS, all, next, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < COLUMNS; j++) {
      if (a[i][j] != rank * 1e6 + i * 1e3 + j) {
        fail("columns back: %d %d", i, j);
        i = ROWS, j = COLUMNS;
      }
    }
  }
  MPI_Type_free(&column);
  MPI_Type_free(&all);
  free(a);
  free(b);
}

/* One rank's message to all others, each in its own time. */
static void one_to_all(void) {
  enum { N = 200000 };
  unsigned char *p = malloc(N);
  for (int root = 0; root < size; root++) {
    if (rank == root) {
      fill(p, N, root, 0, 1);
      MPI_Request *r = malloc((size_t)size * sizeof(*r));
      for (int i = 0; i < size; i++) {
        if (i == root) {
          r[i] = MPI_REQUEST_NULL;
        } else if (i % 2) {
          MPI_Isend(p, N, MPI_BYTE, i, 1, MPI_COMM_WORLD, &r[i]);
        } else {
          MPI_Issend(p, N, MPI_BYTE, i, 1, MPI_COMM_WORLD, &r[i]);
        }
      }
      MPI_Waitall(size, r, MPI_STATUSES_IGNORE);
      free(r);
    } else {
      memset(p, 0, N);
      MPI_Recv(p, N, MPI_BYTE, root, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(p, N, root, 0, 1, "one to all");
    }
  }
  free(p);
}

/* Buffers on the stack, and among globals. */
static unsigned char global[150000];
static void places(void) {
  unsigned char local[150000];
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  fill(local, sizeof(local), rank, next, 9);
  MPI_Sendrecv(local, sizeof(local), MPI_BYTE, next, 1, global, sizeof(global),
               MPI_BYTE, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(global, sizeof(global), previous, rank, 9, "globals");
  memset(local, 0, sizeof(local));
  MPI_Sendrecv(global, sizeof(global), MPI_BYTE, previous, 1, local,
               sizeof(local), MPI_BYTE, next, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  check(local, sizeof(local), rank, next, 9, "stack");
  MPI_Sendrecv_replace(local, sizeof(local), MPI_BYTE, next, 2, previous, 2,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(local, sizeof(local), previous, rank, 9, "replace");
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  crowd(false);
  crowd(true);
  columns();
  one_to_all();
  places();
  return end();
}
