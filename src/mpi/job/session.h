/* Sessions of a rank in a checkpoint; of an MPI without them there is nothing.
 */
#ifndef PEMS_MPI_JOB_SESSION_H
#define PEMS_MPI_JOB_SESSION_H

#include "checkpoint/parcel.h"
#include "mpi/object/rank.h"

/* What one of them has that cannot be saved, or NULL. */
const char *sessions_obstacle(const struct rank *rank);
/* On the rank's thread. */
void sessions_save(const struct rank *rank, struct parcel *to);
/* An errno value, or 0. */
int sessions_load(struct rank *rank, struct parcel *from);

#endif
