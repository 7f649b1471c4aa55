/* The communicators a program has: MPI_COMM_WORLD, whose ranks are the VPs,
   and MPI_COMM_SELF. Checks of arguments that all collectives share. */
#ifndef PEMS_MPI_COMM_H
#define PEMS_MPI_COMM_H

#include "vp/vp.h"

#include <mpi.h>
#include <stdbool.h>

/* The calling VP. */
struct vp *comm_me(void);

/* Ranks of a communicator that check_comm accepts; is the caller `root`? */
int comm_size(MPI_Comm comm);
bool comm_is_root(MPI_Comm comm, int root);

/* Calls the VP's error handler for `comm` (that of MPI_COMM_WORLD where comm
   is not a communicator) with `code`. Returns code, unless the handler ends
   the job. `function` is "MPI_X". No effect for MPI_SUCCESS. */
int comm_error(MPI_Comm comm, int code, const char *function);

/* Makes mpi_delegated call the VP's handlers. */
void comm_install(void);

/* Each returns MPI_SUCCESS or the error class that Open MPI gives. */
int check_comm(MPI_Comm comm);
int check_root(MPI_Comm comm, int root);
/* A buffer to send or receive; count and type as in MPI. */
int check_buffer(const void *buffer, int count, MPI_Datatype type);
/* What a rank of a rooted call gives to the root or gets from it: the
   communicator, the root, and a buffer that may be MPI_IN_PLACE at the root. */
int check_rooted(const void *buffer, int count, MPI_Datatype type, int root,
                 MPI_Comm comm);
/* n counts, each at least 0, and their buffer. */
int check_counts(const void *buffer, const int *counts, int n,
                 MPI_Datatype type);
int check_op(MPI_Op op, MPI_Datatype type);

#endif
