/* Generalized requests. */
#ifndef PEMS_MPI_REQUEST_GREQUEST_H
#define PEMS_MPI_REQUEST_GREQUEST_H

#include <mpi.h>
#include <stdbool.h>

/* The request's functions are Fortran's subroutines. False: it is no
   generalized request of pems. */
bool grequest_set_fortran(MPI_Request handle);

#endif
