/* Checks of arguments that many calls share. */
#ifndef PEMS_MPI_OBJECT_CHECK_H
#define PEMS_MPI_OBJECT_CHECK_H

#include "mpi/object/comm.h"
#include "mpi_abi/counts.h"

/* Each returns MPI_SUCCESS or the error class that the MPI below gives. */
int check_comm(MPI_Comm comm); /* any kind */
int check_intra(MPI_Comm comm);
/* A rank of the addressed group; also MPI_PROC_NULL (and MPI_ANY_SOURCE). */
int check_peer(const struct comm *comm, int rank, bool any);
/* A buffer to send or receive; count and type as in MPI. */
int check_buffer(const void *buffer, MPI_Count count, MPI_Datatype type);
/* n counts, each at least 0, and their buffer. */
int check_counts(const void *buffer, struct counts counts, int n,
                 MPI_Datatype type);
int check_op(MPI_Op op, MPI_Datatype type);

#endif
