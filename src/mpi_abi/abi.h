/* What the MPI standard leaves to each MPI: how a program's handles and
   statuses are represented, the numbers of constants, the names of Fortran's
   entry points. One header for each ABI defines

   ABI_OBJECT(handle)        the address in a handle that pems gave out, or of
                             any readable memory where it is the real library's
   ABI_HANDLE(type, object)  the handle of type `type` of an object of pems
   abi_status_set(), abi_status_bytes(), abi_status_cancelled()
   ABI_FREE_KEYVAL           lowest number of a keyval that is not predefined
   ABI_FREE_FORTRAN          lowest Fortran handle that the real library does
                             not reach
   ABI_LAST_COMM_TYPE        highest type of MPI_Comm_split_type; the lowest is
                             MPI_COMM_TYPE_SHARED
   ABI_FORTRAN(lower)        the name by which the MPI library's Fortran modules
                             call the C function behind PMPI_X

   and this one takes the one that belongs to the mpi.h that is used. */
#ifndef PEMS_MPI_ABI_ABI_H
#define PEMS_MPI_ABI_ABI_H

#include <mpi.h>

#if defined OPEN_MPI
#include "mpi_abi/openmpi.h"
#else
#error "src/mpi_abi has no header for the ABI of this mpi.h"
#endif

#endif
