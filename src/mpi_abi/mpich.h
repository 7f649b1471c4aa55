/* The ABI of MPICH 3.4 to 5, which Intel MPI, MVAPICH and Cray MPICH share: see
   abi.h. Handles are numbers, the same in C and in Fortran; those of files are
   addresses. */
#ifndef PEMS_MPI_ABI_MPICH_H
#define PEMS_MPI_ABI_MPICH_H

#include "mpi_abi/handle.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline void *abi_numbered(int number) {
  return handle_numbered(number);
}
static inline int abi_number(const void *object) {
  return handle_c2f((struct handle *)(uintptr_t)object);
}

#define ABI_OBJECT(handle)                                                     \
  _Generic((handle), int: abi_numbered, default: handle_behind)(handle)
#define ABI_HANDLE(type, object)                                               \
  ((type) _Generic((type)0, int: abi_number, default: handle_shown)(object))

#define ABI_CLASS_OF_NULL(class) MPI_ERR_ARG

#define ABI_NOBODYS_ERRORS MPI_COMM_SELF

typedef int abi_holder;

static inline void abi_status_set(MPI_Status *status, MPI_Count bytes,
                                  bool cancelled) {
  const uint64_t n = (uint64_t)bytes;
  status->count_lo = (int)(uint32_t)n;
  status->count_hi_and_cancelled = (int)(n >> 32 << 1 | cancelled);
}

static inline MPI_Count abi_status_bytes(const MPI_Status *status) {
  const uint64_t high = (uint32_t)status->count_hi_and_cancelled >> 1;
  return (MPI_Count)(high << 32 | (uint32_t)status->count_lo);
}

static inline bool abi_status_cancelled(const MPI_Status *status) {
  return status->count_hi_and_cancelled & 1;
}

static inline MPI_Fint abi_op_number(MPI_Op op) {
  return op;
}
static inline MPI_Op abi_op_numbered(MPI_Fint number) {
  return number;
}
static inline MPI_Fint abi_type_number(MPI_Datatype type) {
  return type;
}
static inline MPI_Datatype abi_type_numbered(MPI_Fint number) {
  return number;
}

static inline bool abi_is_comm_type(int type) {
#ifdef MPIX_COMM_TYPE_NEIGHBORHOOD
  const int last = MPIX_COMM_TYPE_NEIGHBORHOOD;
#else
  const int last = MPI_COMM_TYPE_SHARED;
#endif
  return type >= MPI_COMM_TYPE_SHARED && type <= last;
}

/* MPICH's own handles have their kind in the two highest bits, not 0; its
   keyvals, too. */
enum {
  ABI_FREE_KEYVAL = 1 << 20,
  ABI_FREE_FORTRAN = 1 << 20,
  ABI_WORLD_HANDLES = 1, /* not as MPI's standard has it */
  ABI_HANDLERS_SET_CODE = 1,
  ABI_KEYVALS_HAVE_KINDS = 1,
  ABI_NOTHING_NEEDS_TYPE = 0,
  ABI_WINDOWS_ARE_WATCHED = 1,
};

#endif
