/* Buffers that programs attach for buffered sends. pems copies such messages
   to where it keeps others (letter.h), and uses the buffers for nothing; that a
   message would have fitted is all it checks. */
#ifndef PEMS_MPI_P2P_BUFFERED_H
#define PEMS_MPI_P2P_BUFFERED_H

#include <mpi.h>

/* MPI_ERR_BUFFER if the calling VP's buffer is too small for a message. */
int buffered_check(int count, MPI_Datatype type);

#endif
