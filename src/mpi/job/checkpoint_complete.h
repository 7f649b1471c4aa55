/* What a checkpoint has beside the files of ranks, and its name. */
#ifndef PEMS_MPI_JOB_CHECKPOINT_COMPLETE_H
#define PEMS_MPI_JOB_CHECKPOINT_COMPLETE_H

#include "checkpoint/manifest.h"
#include "checkpoint/shelf.h"

#include <pems/status.h>

/* By one process, when all ranks have written their files, whose sums are in
 *m. Of those that are complete then, `keep` stay. 0, or an errno value with
 *error filled in. */
int checkpoint_complete(const struct shelf *shelf, struct manifest *m, int keep,
                        struct pems_error *error);

#endif
