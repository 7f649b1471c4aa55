/* Numbers of handles, by the same names with each MPI. */
#ifndef TESTS_MPI_NUMBERS_H
#define TESTS_MPI_NUMBERS_H

#include <mpi.h>
#include <string.h>

/* The header of MPI 5.0's ABI has numbers of handles, but no Fortran. */
#ifdef MPI_ABI_VERSION
typedef int MPI_Fint;
#define MPI_Comm_c2f MPI_Comm_toint
#define MPI_Comm_f2c MPI_Comm_fromint
#define MPI_Errhandler_c2f MPI_Errhandler_toint
#define MPI_Errhandler_f2c MPI_Errhandler_fromint
#define MPI_Group_c2f MPI_Group_toint
#define MPI_Group_f2c MPI_Group_fromint
#define MPI_Info_c2f MPI_Info_toint
#define MPI_Info_f2c MPI_Info_fromint
#define MPI_Message_c2f MPI_Message_toint
#define MPI_Message_f2c MPI_Message_fromint
#define MPI_Op_c2f MPI_Op_toint
#define MPI_Op_f2c MPI_Op_fromint
#define MPI_Request_c2f MPI_Request_toint
#define MPI_Request_f2c MPI_Request_fromint
#define MPI_Type_c2f MPI_Type_toint
#define MPI_Type_f2c MPI_Type_fromint
#define MPI_Win_c2f MPI_Win_toint
#define MPI_Win_f2c MPI_Win_fromint
#define MPI_Status_c2f(status, words) memcpy(words, status, sizeof(MPI_Status))
#define MPI_Status_f2c(words, status) memcpy(status, words, sizeof(MPI_Status))
#endif

#endif
