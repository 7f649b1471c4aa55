/* Which ranks share a directory. */
#ifndef PEMS_MPI_COMM_COMM_DIRECTORY_H
#define PEMS_MPI_COMM_COMM_DIRECTORY_H

#include "mpi/object/comm.h"

/* Collective over the intra-communicator: a number that those have in common
   who see the same files in the directory that the hint nbhd_common_dirname
   names, or MPI_UNDEFINED, where it is not the same on all, or no file can be
   made there. An error class. */
int comm_directory_place(struct comm *comm, MPI_Info info, int *place);

#endif
