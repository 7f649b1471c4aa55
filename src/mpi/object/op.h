/* Operations that collective calls still need when the program frees them. */
#ifndef PEMS_MPI_OBJECT_OP_H
#define PEMS_MPI_OBJECT_OP_H

#include <mpi.h>
#include <stdbool.h>

/* The operation stays until op_release, whatever the program does.
   Thread-safe. */
void op_hold(MPI_Op op);
void op_release(MPI_Op op);
/* Did a program make it? */
bool op_is_user(MPI_Op op);

#endif
