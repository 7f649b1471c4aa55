/* Handles as Fortran has them: numbers. */
#ifndef PEMS_MPI_ABI_FORTRAN_HANDLES_H
#define PEMS_MPI_ABI_FORTRAN_HANDLES_H

#include "mpi_abi/abi.h"

/* The number of the object that an error handler is called for: a communicator,
   window or file. Thread-safe. */
MPI_Fint fortran_number(const void *handle);

#endif
