/* The environment of each rank: the process's, but with the numbers that the
   launcher would have told it (mpi_below/launcher_variables.h). */
#ifndef PEMS_MPI_OBJECT_ENVIRONMENT_H
#define PEMS_MPI_OBJECT_ENVIRONMENT_H

#include <stdbool.h>

/* Called by all processes when ranks are dealt (vps.split). whole: the process
   is a job of so many ranks as the user has said, without a launcher. Keeps a
   copy of the process's environment, of which libc may free what it has. */
void environment_start(bool whole);

/* For the rank `first + i` of a world of n ranks, which follow `first`. The
   array is the caller's (native_free), its words are partly those of the copy.
   NULL: out of memory. */
char **environment_of(int first, int n, int i);

#endif
