/* The shared libraries that the real MPI consists of. */
#ifndef PEMS_MPI_BELOW_LIBRARIES_H
#define PEMS_MPI_BELOW_LIBRARIES_H

#include <stdbool.h>

/* Is the object at `path` one of them, or one that they bring along? What these
   allocate is the process's, not a VP's. Thread-safe, does not allocate. */
bool libraries_of_mpi(const char *path);

#endif
