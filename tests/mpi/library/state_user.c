/* Uses nothing of the C library itself that libstate uses: it is LINKED with
   it, or opens the file that is its argument. */
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

typedef int of_rank(int rank);

#ifdef LINKED
extern of_rank state_begin, state_goes_on;
#endif

int main(int argc, char **argv) {
  int rank, good = 0, sum;
  of_rank *begin = NULL, *goes_on = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef LINKED
  begin = state_begin;
  goes_on = state_goes_on;
#else
  void *const library = dlopen(argv[1], RTLD_NOW);
  *(void **)&begin = library ? dlsym(library, "state_begin") : NULL;
  *(void **)&goes_on = library ? dlsym(library, "state_goes_on") : NULL;
#endif
  for (int round = 0; round < 3 && begin && goes_on; round++) {
    good += begin(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    good += goes_on(rank);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Allreduce(&good, &sum, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum == 30 ? 0 : 10 + sum;
}
