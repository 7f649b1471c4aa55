/* What the MPI standard leaves to each MPI: how a program's handles and
   statuses are represented, the numbers of constants, the names of Fortran's
   entry points. This header takes the one that belongs to the mpi.h in use.
   Each of them defines

   - ABI_OBJECT(handle): the object behind a handle that pems gave out; NULL, or
     any readable memory, where the handle is the real library's
   - ABI_HANDLE(type, object): the handle, of type `type`, of an object of pems
   - abi_holder: the type in which a callback gets the communicator or window
     that an attribute is on
   - abi_status_set(), abi_status_bytes(), abi_status_cancelled()
   - ABI_FREE_KEYVAL: the lowest number of a keyval that is not predefined
   - ABI_FREE_FORTRAN: the lowest Fortran handle that the real library does not
     reach
   - abi_op_number(), abi_op_numbered(), abi_type_number(),
     abi_type_numbered(): predefined operations and datatypes as numbers that
     are the same in all processes, and back
   - ABI_NOTHING_NEEDS_TYPE: whether a message of no elements must have a
     datatype, or may have MPI_DATATYPE_NULL
   - ABI_NOBODYS_ERRORS: the communicator whose error handler is told of errors
     at ports and names, which belong to no object
   - ABI_WORLD_HANDLES: whether the errors of communicators and windows that no
     error handler was set for go to that of MPI_COMM_WORLD
   - ABI_CLASS_OF_NULL(class): of the error that an argument is NULL, for which
     Open MPI has `class`
   - ABI_HANDLERS_SET_CODE: whether a call returns what its error handler leaves
     in the code
   - ABI_KEYVALS_HAVE_KINDS: whether it is an error to ask an object for the
     attribute of a keyval that is for other objects
   - ABI_WINDOWS_ARE_WATCHED: whether it is an error to free a window in an
     epoch, and to compare and swap what is no integer; and none to lock
   nobody's
   - abi_is_comm_type(): whether MPI_Comm_split_type knows the type
   - ABI_TO_INT(type), ABI_FROM_INT(type): where handles are addresses, the
     names of the functions that turn them into numbers and back
   - ABI_FORTRAN(lower): the name by which the MPI library's Fortran modules
     call the C function behind PMPI_X */
#ifndef PEMS_MPI_ABI_ABI_H
#define PEMS_MPI_ABI_ABI_H

#include <mpi.h>

/* What the array of MPI_Pready_list has: constants since MPI 4.1. */
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
typedef const int abi_partition;
#else
typedef int abi_partition;
#endif

#if defined OPEN_MPI
#include "mpi_abi/openmpi.h"
#elif defined MPICH_VERSION || defined I_MPI_VERSION
#include "mpi_abi/mpich.h"
#elif defined MPI_ABI_VERSION
#include "mpi_abi/standard.h"
#else
#error "src/mpi_abi has no header for the ABI of this mpi.h"
#endif

#endif
