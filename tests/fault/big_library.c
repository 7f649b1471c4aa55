/* Each rank has memory, and opens a library with more: together the ranks that
   run have more than there is. Argument: the library. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OWN = 40 << 20, MOMENT = 300000 /* us */ };

static char *data_of(const char *library, size_t *n) {
  void *handle = dlopen(library, RTLD_NOW);
  char *(*where)(void) = handle ? (char *(*)(void))dlsym(handle, "where") : 0;
  const size_t *size = handle ? dlsym(handle, "size") : NULL;
  if (!where || !size) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  *n = *size;
  return where();
}

static int all_are(const char *p, size_t n, char value) {
  for (size_t i = 0; i < n; i++) {
    if (p[i] != value) {
      return 0;
    }
  }
  return 1;
}

int main(int argc, char **argv) {
  int rank;
  size_t n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char *own = malloc(OWN);
  memset(own, rank + 1, OWN);
  usleep(MOMENT); /* others have theirs by now */
  char *data = data_of(argv[1], &n);
  memset(data, rank + 50, n);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!all_are(own, OWN, (char)(rank + 1)) ||
      !all_are(data, n, (char)(rank + 50))) {
    printf("rank %d: other data\n", rank);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("opened\n");
  }
  MPI_Finalize();
  return 0;
}
