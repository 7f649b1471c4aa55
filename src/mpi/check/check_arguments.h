/* Checks of arguments that calls for messages share. Each returns MPI_SUCCESS
   or an error class. */
#ifndef PEMS_MPI_CHECK_CHECK_ARGUMENTS_H
#define PEMS_MPI_CHECK_CHECK_ARGUMENTS_H

#include <mpi.h>

/* As check_buffer, quicker for predefined types; for messages. */
int check_data(const void *buffer, MPI_Count count, MPI_Datatype type);
int check_send(const void *buffer, MPI_Count count, MPI_Datatype type, int to,
               int tag, MPI_Comm comm);
/* Where a receive or a probe looks. */
int check_source(int from, int tag, MPI_Comm comm);
int check_receive(const void *buffer, MPI_Count count, MPI_Datatype type,
                  int from, int tag, MPI_Comm comm);

#endif
