/* The ABI of Open MPI 4 and 5: see abi.h. Handles are addresses of objects. */
#ifndef PEMS_MPI_ABI_OPENMPI_H
#define PEMS_MPI_ABI_OPENMPI_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#define ABI_OBJECT(handle) ((void *)(handle))
#define ABI_HANDLE(type, object) ((type)(void *)(object))

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

enum {
  ABI_FREE_KEYVAL = 12, /* MPI_WIN_MODEL is 11 */
  ABI_FREE_FORTRAN = 1 << 20,
  ABI_LAST_COMM_TYPE = OMPI_COMM_TYPE_CLUSTER,
};

#define ABI_FORTRAN(lower) ompi_##lower##_f

#endif
