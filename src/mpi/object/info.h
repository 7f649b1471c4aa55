/* Hints in a checkpoint: keys and values. Those that return an int return an
   errno value, or 0. */
#ifndef PEMS_MPI_OBJECT_INFO_H
#define PEMS_MPI_OBJECT_INFO_H

#include "checkpoint/parcel.h"

#include <mpi.h>

/* MPI_INFO_NULL, too. */
void info_save(MPI_Info info, struct parcel *to);
/* A new one. */
int info_load(MPI_Info *info, struct parcel *from);

struct rank;
/* Those that the rank's program has. */
void infos_save(const struct rank *rank, struct parcel *to);
int infos_load(struct rank *rank, struct parcel *from);

#endif
