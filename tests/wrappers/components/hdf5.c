/* Each rank writes a file of its own through a filter that libhdf5 opens, and
   reads it after a superstep, and another's. */
#include <dlfcn.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILTER = 300, N = 100000, CHUNK = 10000 };

static void need(int ok, const char *what) {
  if (!ok) {
    fprintf(stderr, "%s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void write_file(const char *name, const int *data) {
  const hsize_t n = N, chunk = CHUNK;
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, &n, NULL);
  const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  need(H5Pset_chunk(how, 1, &chunk) >= 0, "chunk");
  need(H5Pset_filter(how, FILTER, 0, 0, NULL) >= 0, "filter");
  const hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT,
                               how, H5P_DEFAULT);
  MPI_Barrier(MPI_COMM_WORLD);
  need(set >= 0 && H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                            data) >= 0,
       "write");
  H5Pclose(how);
  H5Sclose(space);
  H5Dclose(set);
  need(H5Fclose(file) >= 0, "close");
}

static long read_file(const char *name, int *data) {
  long sum = 0;
  const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, "x", H5P_DEFAULT);
  need(set >= 0 && H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                           data) >= 0,
       "read");
  H5Dclose(set);
  H5Fclose(file);
  for (int i = 0; i < N; i++) {
    sum += data[i];
  }
  return sum;
}

/* How often this rank's filter has been called; -1 if it is not there. */
static int calls(void) {
  char path[999];
  snprintf(path, sizeof(path), "%s/libfilter.so", getenv("HDF5_PLUGIN_PATH"));
  void *filter = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  const int *count = filter ? dlsym(filter, "filter_calls") : NULL;
  return count ? *count : -1;
}

int main(int argc, char **argv) {
  int rank, size;
  char name[2][99];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int *data = malloc(N * sizeof(*data));
  for (int i = 0; i < N; i++) {
    data[i] = i % 1000 + rank;
  }
  snprintf(name[0], sizeof(name[0]), "file%d.h5", rank);
  snprintf(name[1], sizeof(name[1]), "file%d.h5", (rank + 1) % size);
  write_file(name[0], data);
  MPI_Barrier(MPI_COMM_WORLD);
  const long own = read_file(name[0], data);
  MPI_Barrier(MPI_COMM_WORLD);
  const long other = read_file(name[1], data);
  printf("rank %d: %ld %ld, %d calls of the filter\n", rank, own, other,
         calls());
  free(data);
  MPI_Finalize();
  return 0;
}
