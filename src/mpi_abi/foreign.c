#include "mpi_abi/foreign.h"

#include <mpi.h>

#include <stdbool.h>

/* MPICH's handles are numbers of 32 bits: how the object is kept (1: part of
   the library, 2: one of a few), its kind, and which it is. A process has
   nothing at such addresses. */
static bool is_mpich(uintptr_t handle) {
  enum { FIRST_KIND = 1, LAST_KIND = 8, MANY = 1 << 12 };
  const unsigned kept = (unsigned)(handle >> 30);
  const unsigned kind = (unsigned)(handle >> 26 & 15);
  return (kept == 1 || kept == 2) && kind >= FIRST_KIND && kind <= LAST_KIND &&
         (handle & ((1 << 26) - 1)) < MANY;
}

/* The lower half of an address. Numbers of pems and null handles begin with
   zeros. */
static bool is_address(uintptr_t handle) {
  const unsigned kept = (unsigned)(handle >> 30 & 3);
  return (kept == 1 || kept == 2) && !is_mpich(handle & UINT32_MAX);
}

const char *foreign_hint(uintptr_t handle) {
  if (sizeof(MPI_Comm) == sizeof(int)) {
    return is_address(handle)
               ? ": this seems to be an address, as Open MPI's handles are: "
                 "build all of the program, libraries too, with pemscc"
               : "";
  }
  return is_mpich(handle)
             ? ": this is a handle of MPICH: build all of the program, "
               "libraries too, with pemscc, not with MPICH's mpi.h"
             : "";
}
