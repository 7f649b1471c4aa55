/* Handles of another MPI, which a library that was compiled with that one's
   mpi.h passes. */
#ifndef PEMS_MPI_ABI_FOREIGN_H
#define PEMS_MPI_ABI_FOREIGN_H

#include <stdint.h>

/* Part of a sentence: empty, or that the number is such a handle, and of which
   MPI. Where handles are addresses, it may be that of a crash, a little behind
   it; where they are numbers, one that no object has. Only what cannot be
   anything else counts. Safe in a signal handler. */
const char *foreign_hint(uintptr_t handle);

#endif
