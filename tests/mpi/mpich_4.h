/* Is plain MPICH one before 5.0? Tests leave out what those have wrong. */
#ifndef TESTS_MPI_MPICH_4_H
#define TESTS_MPI_MPICH_4_H

#include <mpi.h>

#if defined MPICH_NUMVERSION && MPICH_NUMVERSION < 50000000
enum { MPICH_4 = 1 };
#else
enum { MPICH_4 = 0 };
#endif

#endif
