/* The ABI that MPI 5.0 defines (mpi_abi.h), chapter 20 of the standard: see
   abi.h. Predefined handles are small numbers as addresses; others are
   addresses. What a status says of counts is each MPI's own matter. */
#ifndef PEMS_MPI_ABI_STANDARD_H
#define PEMS_MPI_ABI_STANDARD_H

#include "mpi_abi/handle.h"
#include "mpi_below/real.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No object lies in the first page. */
static inline void *abi_object(const void *handle) {
  return (uintptr_t)handle < 4096 ? NULL : handle_behind(handle);
}
#define ABI_OBJECT(handle) abi_object(handle)
#define ABI_HANDLE(type, object) ((type)handle_shown(object))

#define ABI_CLASS_OF_NULL(class) MPI_ERR_ARG

#define ABI_NOBODYS_ERRORS MPI_COMM_SELF

typedef void *abi_holder;

static inline void abi_status_set(MPI_Status *status, MPI_Count bytes,
                                  bool cancelled) {
  real.Status_set_elements_c(status, MPI_BYTE, bytes);
  real.Status_set_cancelled(status, cancelled);
}

static inline MPI_Count abi_status_bytes(const MPI_Status *status) {
  MPI_Count bytes = 0;
  real.Get_elements_c(status, MPI_BYTE, &bytes);
  return bytes;
}

static inline bool abi_status_cancelled(const MPI_Status *status) {
  int cancelled = 0;
  real.Test_cancelled(status, &cancelled);
  return cancelled;
}

static inline int abi_op_number(MPI_Op op) {
  return real.Op_toint(op);
}
static inline MPI_Op abi_op_numbered(int number) {
  return real.Op_fromint(number);
}
static inline int abi_type_number(MPI_Datatype type) {
  return real.Type_toint(type);
}
static inline MPI_Datatype abi_type_numbered(int number) {
  return real.Type_fromint(number);
}

static inline bool abi_is_comm_type(int type) {
  return type >= MPI_COMM_TYPE_SHARED && type <= MPI_COMM_TYPE_RESOURCE_GUIDED;
}

#define ABI_TO_INT(type) type##_toint
#define ABI_FROM_INT(type) type##_fromint

enum {
  ABI_FREE_KEYVAL = 1 << 20,
  ABI_FREE_FORTRAN = 1 << 20,
  ABI_WORLD_HANDLES = 0,
  ABI_HANDLERS_SET_CODE = 1,
  ABI_KEYVALS_HAVE_KINDS = 1,
  ABI_NOTHING_NEEDS_TYPE = 0,
  ABI_WINDOWS_ARE_WATCHED = 1,
};

#endif
