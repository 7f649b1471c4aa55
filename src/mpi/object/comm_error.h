/* Errors of communicators' calls, and of calls that have none. */
#ifndef PEMS_MPI_OBJECT_COMM_ERROR_H
#define PEMS_MPI_OBJECT_COMM_ERROR_H

#include <mpi.h>

/* Calls the error handler of `comm` (that of MPI_COMM_WORLD where comm is not a
   communicator) with `code`. Returns code, unless the handler ends the job.
   `function` is "MPI_X". No effect for MPI_SUCCESS. */
int comm_error(MPI_Comm comm, int code, const char *function);

/* Makes mpi_delegated call the VP's handlers. */
void comm_error_install(void);

#endif
