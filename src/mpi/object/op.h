/* Operations that the program has made. */
#ifndef PEMS_MPI_OBJECT_OP_H
#define PEMS_MPI_OBJECT_OP_H

#include "checkpoint/parcel.h"

#include <mpi.h>
#include <stdbool.h>

/* The operation stays until op_release, whatever the program does, for
   collective calls still need it. Thread-safe. */
void op_hold(MPI_Op op);
void op_release(MPI_Op op);
/* Did a program make it? */
bool op_is_user(MPI_Op op);

/* inout[i] = in[i] op inout[i], as MPI_Reduce_local, on a thread that is
   outside MPI. */
void op_combine(const void *in, void *inout, int n, MPI_Datatype type,
                MPI_Op op);
/* Where handles are pems's, its function is called by pems, for it gets a
   handle of the datatype: false where the real library is to do that. */
bool op_call(const void *in, void *inout, MPI_Count n, MPI_Datatype type,
             MPI_Op op);
/* Its function is a subroutine of Fortran's. False: nobody has noted it. */
bool op_set_fortran(MPI_Op op);
/* The real library knows more of it than how it was made, and calls it. */
void op_set_foreign(MPI_Op op);

/* Those that the rank's program has, in a checkpoint. The last one returns an
   errno value, or 0. */
struct rank;
const char *ops_obstacle(const struct rank *rank);
void ops_save(const struct rank *rank, struct parcel *to);
int ops_load(struct rank *rank, struct parcel *from);

#endif
