/* Communicators of a rank in a checkpoint. */
#ifndef PEMS_MPI_OBJECT_COMM_KEPT_H
#define PEMS_MPI_OBJECT_COMM_KEPT_H

#include "checkpoint/parcel.h"
#include "mpi/object/rank.h"

/* What one of them has that cannot be saved, or NULL. */
const char *comm_kept_obstacle(const struct rank *rank);
/* On the rank's thread, while it is in no call on any of them. */
void comm_kept_save(const struct rank *rank, struct parcel *to);
/* Before its program goes on, where others may have begun to. An errno value,
   or 0. */
int comm_kept_load(struct rank *rank, struct parcel *from);

#endif
