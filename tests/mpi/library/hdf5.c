/* Each rank writes its rows of a matrix into one file, all together, reads
   those of its neighbour, and says whether they are right. The argument is the
   file. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 3, COLUMNS = 1000 };

/* The part of the matrix that a rank has: a data space of the file. */
static hid_t rows_of(int rank, int n) {
  const hsize_t all[] = {(hsize_t)n * ROWS, COLUMNS};
  const hsize_t first[] = {(hsize_t)rank * ROWS, 0}, part[] = {ROWS, COLUMNS};
  const hid_t space = H5Screate_simple(2, all, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, part, NULL);
  return space;
}

int main(int argc, char **argv) {
  int rank, n, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (argc < 2) {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int *const mine = malloc(sizeof(int[ROWS][COLUMNS]));
  int *const got = calloc(ROWS * COLUMNS, sizeof(*got));
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    mine[i] = rank * ROWS * COLUMNS + i;
  }
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const hid_t together = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  const hsize_t part[] = {ROWS, COLUMNS};
  const hid_t memory = H5Screate_simple(2, part, NULL);
  const hid_t here = rows_of(rank, n);

  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  hid_t set = H5Dcreate2(file, "matrix", H5T_NATIVE_INT, here, H5P_DEFAULT,
                         H5P_DEFAULT, H5P_DEFAULT);
  wrong += H5Dwrite(set, H5T_NATIVE_INT, memory, here, together, mine) < 0;
  H5Dclose(set);
  H5Fclose(file);

  const int next = (rank + 1) % n;
  const hid_t there = rows_of(next, n);
  file = H5Fopen(argv[1], H5F_ACC_RDONLY, access);
  set = H5Dopen2(file, "matrix", H5P_DEFAULT);
  wrong += H5Dread(set, H5T_NATIVE_INT, memory, there, together, got) < 0;
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    wrong += got[i] != next * ROWS * COLUMNS + i;
  }
  H5Dclose(set);
  H5Fclose(file);
  printf("rank %d of %d: %s\n", rank, n, wrong ? "WRONG" : "right");
  free(mine);
  free(got);
  MPI_Finalize();
  return wrong != 0;
}
