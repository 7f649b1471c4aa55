/* What of MPI's objects a rank has in a checkpoint: in another process they are
   made anew, behind the handles that its program has. */
#ifndef PEMS_MPI_JOB_CHECKPOINT_OBJECTS_H
#define PEMS_MPI_JOB_CHECKPOINT_OBJECTS_H

#include "checkpoint/parcel.h"
#include "mpi/object/rank.h"

#include <pems/status.h>

/* What cannot be saved, or NULL. */
const char *checkpoint_objects_obstacle(const struct rank *rank);
/* On the rank's thread. The second one returns 0, or an errno value with *error
   filled in: EILSEQ for what is not as it was saved, in the file `path`. */
void checkpoint_objects_save(const struct rank *rank, struct parcel *to);
int checkpoint_objects_load(struct rank *rank, struct parcel *from,
                            const char *path, struct pems_error *error);

#endif
