/* The ABI of Open MPI 4 and 5: see abi.h. Handles are addresses of objects. */
#ifndef PEMS_MPI_ABI_OPENMPI_H
#define PEMS_MPI_ABI_OPENMPI_H

#include "mpi_abi/handle.h"
#include "mpi_below/real.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#define ABI_OBJECT(handle) handle_behind(handle)
#define ABI_HANDLE(type, object) ((type)handle_shown(object))

typedef void *abi_holder;

static inline void abi_status_set(MPI_Status *status, MPI_Count bytes,
                                  bool cancelled) {
  status->_ucount = (size_t)bytes;
  status->_cancelled = cancelled;
}

static inline MPI_Count abi_status_bytes(const MPI_Status *status) {
  return (MPI_Count)status->_ucount;
}

static inline bool abi_status_cancelled(const MPI_Status *status) {
  return status->_cancelled;
}

static inline MPI_Fint abi_op_number(MPI_Op op) {
  return real.Op_c2f(op);
}
static inline MPI_Op abi_op_numbered(MPI_Fint number) {
  return real.Op_f2c(number);
}
static inline MPI_Fint abi_type_number(MPI_Datatype type) {
  return real.Type_c2f(type);
}
static inline MPI_Datatype abi_type_numbered(MPI_Fint number) {
  return real.Type_f2c(number);
}

static inline bool abi_is_comm_type(int type) {
#if OMPI_MAJOR_VERSION >= 5
  const int last = MPI_COMM_TYPE_HW_GUIDED;
#else
  const int last = OMPI_COMM_TYPE_CLUSTER;
#endif
  return type >= MPI_COMM_TYPE_SHARED && type <= last;
}

#define ABI_CLASS_OF_NULL(class) class

#define ABI_NOBODYS_ERRORS MPI_COMM_WORLD

#define ABI_TO_INT(type) type##_c2f
#define ABI_FROM_INT(type) type##_f2c

enum {
  ABI_FREE_KEYVAL = 12, /* MPI_WIN_MODEL is 11 */
  ABI_FREE_FORTRAN = 1 << 20,
  ABI_WORLD_HANDLES = 0,
  ABI_HANDLERS_SET_CODE = 0,
  ABI_KEYVALS_HAVE_KINDS = 0,
  ABI_NOTHING_NEEDS_TYPE = 1,
  ABI_WINDOWS_ARE_WATCHED = 0,
};

#define ABI_FORTRAN(lower) ompi_##lower##_f

#endif
