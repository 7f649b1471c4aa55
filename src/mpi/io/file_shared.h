/* Reading and writing at the shared file pointer. */
#ifndef PEMS_MPI_IO_FILE_SHARED_H
#define PEMS_MPI_IO_FILE_SHARED_H

#include "mpi/io/file_access.h"

/* Alone, and with all ranks in the order of their ranks. */
file_access_fn file_access_shared;
file_access_fn file_access_ordered;

#endif
