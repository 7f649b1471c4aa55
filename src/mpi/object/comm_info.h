/* Hints on communicators. */
#ifndef PEMS_MPI_OBJECT_COMM_INFO_H
#define PEMS_MPI_OBJECT_COMM_INFO_H

#include "mpi/object/comm.h"

/* Gives comm copies of these hints; MPI_INFO_NULL: none. An error class. */
int comm_info_set(struct comm *comm, MPI_Info info);

#endif
